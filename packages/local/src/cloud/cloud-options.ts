import type { Unstarted } from "../deliveries/heard.ts";
import type { Room } from "../disk/room.ts";
import type { DynamoDbOptions } from "../dynamodb/index.ts";
import type { E2bOptions } from "../e2b/open.ts";
import type { S3Options } from "../s3/index.ts";
import type { Watcher } from "./progress.ts";

export interface CloudOptions {
  /** Where everything is kept: `.nova`. */
  dataDir: string;
  /** A sentence for whoever runs this, such as that sandboxes are not isolated. */
  warn?: (sentence: string) => void;
  /** Hears of every step of every execution, where this process is the owner. */
  onProgress?: Watcher;
  /** Hears of what comes in for triggers and starts no run, where this process is the owner. */
  onUnstarted?: (unstarted: Unstarted) => void;
  /** Delivers every task twice and kills Lambdas at random. */
  chaos?: ChaosOptions;
  /**
   * False: executions that wait do not go on before a guest comes that drives them; for whoever only wants to know
   * something.
   */
  drives?: boolean;
  /** True: schedules fire, as long as it is open. */
  fires?: boolean;
  /** What the endpoints are to suffer, for tests. */
  faults?: { dynamodb?: NonNullable<DynamoDbOptions["faults"]>; s3?: NonNullable<S3Options["faults"]> };
  /** The plan that the E2B endpoint plays. */
  limits?: NonNullable<E2bOptions["limits"]>;
}

/** With the folder's room, which its stores share. */
export type RoomyOptions = CloudOptions & { room: Room };

export interface ChaosOptions {
  /** Of the draws: the same seed, the same ones. */
  seed: number;
  /** A module with all functions; by default the sources, which each thread loads in twice the time of a bundle. */
  entry?: URL;
}
