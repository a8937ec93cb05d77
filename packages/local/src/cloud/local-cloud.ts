import type { DiskSpace, InvokeLambda } from "@nova/aws-local";
import type { DynamoDbOptions } from "@nova/aws-local/dynamodb";
import type { S3Options } from "@nova/aws-local/s3";
import type { E2bOptions } from "@nova/e2b-local";
import type { Ports } from "@nova/engine";
import type { ServicePorts } from "@nova/service";
import type { Workflow } from "@nova/workflow";
import type { Counters } from "./counting.ts";
import type { Listener, Watcher } from "./progress.ts";
import type { Unstarted } from "./service.ts";

export interface CloudOptions {
  dataDir: string;
  /** Receives sentences for the user, such as that sandboxes are not isolated. */
  warn?: (sentence: string) => void;
  /** Receives every step of every execution if this process is the owner. */
  onProgress?: Watcher;
  /** Receives each event that reaches a trigger but starts no run, if this process is the owner. */
  onUnstarted?: (unstarted: Unstarted) => void;
  /** Replaces the functions of this process, for tests. */
  invokeLambda?: InvokeLambda;
  /**
   * False for commands that only read: waiting executions do not continue until a guest arrives that wants them to
   * continue.
   */
  drives?: boolean;
  fires?: boolean;
  /** Faults with which the endpoints answer, for tests. */
  faults?: { dynamodb?: NonNullable<DynamoDbOptions["faults"]>; s3?: NonNullable<S3Options["faults"]> };
  /** Limits that the E2B endpoint enforces, such as `e2bPlans.hobby`; none by default. */
  limits?: NonNullable<E2bOptions["limits"]>;
}

/** The options with the disk that all stores of the folder share. */
export type EndpointOptions = CloudOptions & { disk: DiskSpace };

/** The cloud of one data folder, for commands that run workflows in it. */
export interface LocalCloud {
  /** `owner`: the endpoints are in this process. `guest`: this process uses the endpoints of another process. */
  role: "owner" | "guest";
  dataDir: string;
  environment: Record<string, string>;
  ports: Ports;
  service: ServicePorts;
  /** Resolves when the owner that this guest uses dies. Never resolves in the owner. */
  lost: Promise<void>;
  /** Resolves when the owner asks this guest to leave, or dies. */
  ending: Promise<void>;
  /** Prepares the sandbox template of a workflow. Throws `PythonMissing`. */
  templateFor(workflow: Workflow): Promise<string>;
  /**
   * Resolves when new sandboxes have already imported the template's packages. Code can run earlier, but must then
   * import the packages itself.
   */
  warmed(): Promise<void>;
  counters(execution: string): Promise<Counters>;
  /** Resolves when the execution has ended and is closed. Throws `OwnerGone`. */
  untilEnd(execution: string, listener?: Listener): Promise<void>;
  /**
   * Delays new work, so that a request is answered first. The delay lasts until the returned function is called, but at
   * most 1.5 seconds. If many runs wait and the request starts another run, work also waits a moment for the next such
   * request.
   */
  holdWork(request: { startsRun: boolean }): () => void;
  /** Returns whether closing must wait for other processes, or for an execution at work. */
  isNeeded(): boolean;
  /**
   * Closes the cloud. A guest leaves. An owner waits until no guest is left and no execution is at work, then closes
   * the endpoints. With `interrupt` it ends the executions at work as interrupted. Waiting executions stay in the data
   * folder. The endpoints stay open until `answered` resolves, because open requests still need them.
   */
  close(options?: { interrupt?: boolean; answered?: Promise<void> | undefined }): Promise<void>;
}
