import type { InvokeLambda, Room } from "@nova/aws-local";
import type { DynamoDbOptions } from "@nova/aws-local/dynamodb";
import type { S3Options } from "@nova/aws-local/s3";
import type { E2bOptions } from "@nova/e2b-local";
import type { Ports } from "@nova/engine";
import type { ServicePorts } from "@nova/service";
import type { Workflow } from "@nova/workflow";
import type { Unstarted } from "../deliveries/heard.ts";
import type { Counters } from "./counting.ts";
import type { Listener, Watcher } from "./progress.ts";

export interface CloudOptions {
  /** Where everything is kept: `.nova`. */
  dataDir: string;
  /** A sentence for whoever runs this, such as that sandboxes are not isolated. */
  warn?: (sentence: string) => void;
  /** Hears of every step of every execution, where this process is the owner. */
  onProgress?: Watcher;
  /** Hears of what comes in for triggers and starts no run, where this process is the owner. */
  onUnstarted?: (unstarted: Unstarted) => void;
  /** In place of the functions of this process, for tests. */
  invokeLambda?: InvokeLambda;
  /**
   * False: executions that wait do not go on before a guest comes that drives them; for whoever only wants to know
   * something.
   */
  drives?: boolean;
  /** True: schedules fire, as long as it is open. */
  fires?: boolean;
  /** What the endpoints are to suffer, for tests. */
  faults?: { dynamodb?: NonNullable<DynamoDbOptions["faults"]>; s3?: NonNullable<S3Options["faults"]> };
  /** What the E2B endpoint refuses, such as `e2bPlans.hobby`; by default nothing. */
  limits?: NonNullable<E2bOptions["limits"]>;
}

/** With the folder's room, which its stores share. */
export type RoomyOptions = CloudOptions & { room: Room };

/** The cloud of one data folder, for whoever runs workflows in it. */
export interface LocalCloud {
  /** Whether this process opened the endpoints, or uses another one's. */
  role: "owner" | "guest";
  dataDir: string;
  /** Variables with which any client talks to the endpoints. */
  environment: Record<string, string>;
  ports: Ports;
  /** The same and what the service stores: for whoever asks as the API does. */
  service: ServicePorts;
  /** Resolves when a guest's owner has died; never for an owner. */
  lost: Promise<void>;
  /** Resolves when a guest is asked to leave, and when it has lost its owner. */
  ending: Promise<void>;
  /** The sandbox template of a workflow, ready to use. Throws `PythonMissing`. */
  templateFor(workflow: Workflow): Promise<string>;
  /** Resolves when sandboxes come with the template's packages imported: before, code waits for its own imports. */
  warmed(): Promise<void>;
  /** What an execution has cost since the endpoints were opened. */
  counters(execution: string): Promise<Counters>;
  /** Resolves when the execution is over and closed. Throws `OwnerGone`. */
  untilEnd(execution: string, listener?: Listener): Promise<void>;
  /** Has what is to begin wait until the answer is called, a second and a half at most: whoever asks for more is answered first. */
  holdWork(): () => void;
  /** Whether closing waits for other processes, or for an execution that is at work. */
  isNeeded(): boolean;
  /**
   * A guest leaves. An owner waits until no guest is left and nothing is at work, then closes the endpoints; with
   * `interrupt` it ends what is at work instead, as interrupted. Executions that wait are parked in the data folder.
   * Requests that are open until `answered` still need the endpoints.
   */
  close(options?: { interrupt?: boolean; answered?: Promise<void> | undefined }): Promise<void>;
}
