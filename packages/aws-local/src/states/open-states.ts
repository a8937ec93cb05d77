import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { AccessKey } from "../access/signature.ts";
import { type AwsServer, listen } from "../aws-http/listen.ts";
import { findOperation, type Request } from "../aws-http/request.ts";
import { type Clock, createSteadyClock, systemClock } from "../clock.ts";
import { DiskSpace } from "../disk/disk-space.ts";
import type { InvokeLambda } from "../lambda-types.ts";
import { DATA_LIMIT_BYTES } from "./asl/failure.ts";
import { executionOfToken, type ReadObject } from "./asl/host.ts";
import type { StatusChange } from "./ends.ts";
import type { TaskAnswer } from "./journal/journalled-host.ts";
import { LiveExecutions } from "./live-executions.ts";
import type { LiveOptions } from "./live-options.ts";
import { arnError } from "./server/arns.ts";
import { executionOperations, readEnd } from "./server/executions.ts";
import type { Operations, Service } from "./server/service.ts";
import { prepareRun, startChild } from "./server/start.ts";
import { machineOperations } from "./server/state-machines.ts";
import { Executions } from "./store/executions.ts";
import { Machines } from "./store/machines.ts";

export interface StatesOptions extends AccessKey {
  /**
   * The data folder, which only one process at a time may use. Its subfolder `states` has the state machines and
   * executions.
   */
  dataDir: string;
  invokeLambda: InvokeLambda;
  /** Reads an object from S3 for the `ItemReader` of a distributed Map. Absent: every `ItemReader` fails. */
  readObject?: ReadObject;
  /** Called when an execution has ended. Not called for the executions in `interrupted`. */
  onStatusChange(change: StatusChange): void | Promise<void>;
  /**
   * If false, no execution starts or continues until `drive` is called; answers and stops are accepted all the same.
   */
  drives?: boolean;
  ownerOf?: LiveOptions["ownerOf"];
  clock?: Clock;
  /** The port on 127.0.0.1; absent or 0: any free port. */
  port?: number;
  /** The disk of the data folder. */
  disk?: DiskSpace;
}

export interface States extends AwsServer {
  /** Names of the executions that an earlier process left in the middle of a function. Their status is now ABORTED. */
  interrupted: string[];
  live: LiveExecutions;
  /**
   * Closes the server and stops all work. The next process that opens the folder continues the executions, except those
   * that were in the middle of a function: it ends them as interrupted.
   */
  close(): Promise<void>;
}

const taskOperations: Operations = {
  SendTaskSuccess: (service, request) =>
    answerToken(service, request, () => {
      const output = request.text("output", { most: DATA_LIMIT_BYTES });
      try {
        return { output: JSON.parse(output) };
      } catch (error) {
        throw arnError("InvalidOutput", (error as SyntaxError).message);
      }
    }),

  SendTaskFailure: (service, request) => answerToken(service, request, () => ({ failure: readEnd(request) })),
};

/**
 * Answers the task with a token. If no task waits for the answer, it throws TaskTimedOut for a token of one of our
 * executions, and InvalidToken for any other token.
 */
async function answerToken({ live, executions }: Service, request: Request, read: () => TaskAnswer): Promise<object> {
  const token = request.text("taskToken", { most: 2048 });
  if (await live.answerToken(token, read())) return {};
  if (executions.get(executionOfToken(token))) throw arnError("TaskTimedOut", "Provided task does not exist anymore");
  throw arnError("InvalidToken", "Invalid token");
}

const operations: Operations = { ...machineOperations, ...executionOperations, ...taskOperations };

/**
 * The largest body. A definition or an input with many escaped characters is much longer in the request than the API's
 * limit for it.
 */
const maxBytes = 8 * 1024 * 1024;

/** Opens Step Functions over a data folder. */
export async function openStates(options: StatesOptions): Promise<States> {
  // This clock never goes back: times in a history must be in order, and no wait may become longer because the clock
  // was set back.
  const clock = createSteadyClock(options.clock ?? systemClock);
  const folder = join(options.dataDir, "states");
  mkdirSync(folder, { recursive: true });
  const { disk = new DiskSpace(options.dataDir) } = options;
  const machines = new Machines(join(folder, "machines.ndjson"));
  const executions = new Executions(folder, disk);
  const { accessKeyId, secretAccessKey, invokeLambda, onStatusChange, ownerOf, readObject = noObjects } = options;
  const live: LiveExecutions = new LiveExecutions(executions, {
    clock,
    disk,
    invokeLambda,
    readObject,
    onStatusChange,
    ...(ownerOf && { ownerOf }),
    prepare: (execution) => prepareRun(service, execution),
    startChild: (child, startedBy) => startChild(service, child, startedBy),
  });
  const service = { machines, executions, live, clock };
  const interrupted = disk.hasSpace ? await live.recover() : [];
  const server = await listen({
    name: "Step Functions",
    contentType: "application/x-amz-json-1.0",
    maxBytes,
    accessKeyId,
    secretAccessKey,
    disk,
    port: options.port,
    read: "AWSStepFunctions",
    perform: (operation, input) => findOperation("Step Functions", operation, operations)(service, input),
  });
  if (options.drives !== false) live.drive();
  return {
    ...server,
    interrupted: interrupted.map(({ name }) => name),
    live,
    async close() {
      await server.close();
      await live.shutDown();
      executions.close();
      machines.close();
    },
  };
}

/** Always rejects. It is the `readObject` of callers without S3. */
export function noObjects(): Promise<never> {
  return Promise.reject(new Error("There is no S3 beside this Step Functions."));
}
