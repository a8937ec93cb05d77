import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { AccessKey } from "../access/signature.ts";
import { type AwsServer, listen } from "../aws-http/listen.ts";
import { findOperation, parseRequest } from "../aws-http/request.ts";
import { type Clock, createSteadyClock, systemClock } from "../clock.ts";
import { DiskSpace } from "../disk/disk-space.ts";
import type { InvokeLambda } from "../lambda-types.ts";
import type { ReadObject } from "./asl/host.ts";
import type { StatusChange } from "./ends.ts";
import { LiveExecutions } from "./live-executions.ts";
import type { LiveOptions } from "./live-options.ts";
import { executionOperations } from "./server/executions.ts";
import type { Operations } from "./server/service.ts";
import { prepareRun, startChild } from "./server/start.ts";
import { machineOperations } from "./server/state-machines.ts";
import { taskOperations } from "./server/tasks.ts";
import { Executions } from "./store/executions.ts";
import { Machines } from "./store/machines.ts";

export interface StatesOptions extends AccessKey {
  /** The folder `states` in it holds state machines and executions. One process owns it at a time. */
  dataDir: string;
  invokeLambda: InvokeLambda;
  /** Serves the `ItemReader` of distributed Maps; absent: the reader fails. */
  readObject?: ReadObject;
  /** Called when an execution has ended; not for executions found interrupted on opening. */
  onStatusChange(change: StatusChange): void | Promise<void>;
  /** False: nothing continues before `drive`; answers and stops are still accepted. */
  drives?: boolean;
  ownerOf?: LiveOptions["ownerOf"];
  clock?: Clock;
  /** The port on 127.0.0.1; absent or 0: any free port. */
  port?: number;
  /** The disk of the data folder. */
  disk?: DiskSpace;
}

export interface States extends AwsServer {
  /** Names of executions that a process left in the middle of a function. They are ABORTED now. */
  interrupted: string[];
  live: LiveExecutions;
  /** Stops serving. The next process to open the folder finds the unfinished executions interrupted. */
  close(): Promise<void>;
}

const operations: Operations = { ...machineOperations, ...executionOperations, ...taskOperations };

/** Longer than any request that the API allows: an escaped definition or input. */
const maxBytes = 8 * 1024 * 1024;

/** Opens Step Functions over a data folder. */
export async function openStates(options: StatesOptions): Promise<States> {
  // Times in a history must be in order, and a wait must not grow when the clock is set back.
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
    answer(message, body) {
      return findOperation("Step Functions", "AWSStepFunctions", message, operations)(service, parseRequest(body));
    },
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

/** Rejects: for callers without S3. */
export function noObjects(): Promise<never> {
  return Promise.reject(new Error("There is no S3 beside this Step Functions."));
}
