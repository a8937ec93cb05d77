import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { AccessKey } from "../access/signature.ts";
import { type Clock, steady, systemClock } from "../clock.ts";
import { Room } from "../disk/room.ts";
import type { InvokeLambda } from "../lambda-types.ts";
import type { Stop } from "./asl/execute.ts";
import type { ReadObject } from "./asl/host.ts";
import type { StatusChange } from "./ends.ts";
import { LiveExecutions } from "./live-executions.ts";
import { listenForStates } from "./server/listen.ts";
import { preparedBy, startChild } from "./server/start.ts";
import { Executions } from "./store/executions.ts";
import { Machines } from "./store/machines.ts";

export interface StatesOptions extends AccessKey {
  /** State machines and executions live in its folder `states`; one process owns it at a time. */
  dataDir: string;
  region?: string;
  accountId?: string;
  invokeLambda: InvokeLambda;
  /** Serves the `ItemReader` of distributed Maps; absent: there is no S3 here. */
  readObject?: ReadObject;
  /** Called when an execution has ended; not for those found interrupted on opening. */
  onStatusChange(change: StatusChange): void | Promise<void>;
  /** False: nothing goes on before `drive`; answers and stops are taken all the same. */
  drives?: boolean;
  clock?: Clock;
  /** Of the data folder. */
  room?: Room;
  port?: number;
}

export interface States {
  url: string;
  /** Names of executions that a process left in the middle of a function when it stopped; they are ABORTED now. */
  interrupted: string[];
  /** Lets executions go on, here and from now on. */
  drive(): void;
  /** Whether an execution is under way, and not parked. */
  isAtWork(): boolean;
  /** Resolves when nothing is under way and every change of status was taken: executions have ended or are parked. */
  idle(): Promise<void>;
  /** As `idle`, before closing: what is parked begins nothing on its own any more. */
  rest(): Promise<void>;
  /** Stops what is under way; what is parked stays so. */
  stopBusy(stop: Stop): Promise<void>;
  /** Stops serving; what is still under way is found interrupted by the next to open the folder. */
  close(): Promise<void>;
}

/** Opens Step Functions over a data folder. */
export async function openStates(options: StatesOptions): Promise<States> {
  const { region = "us-east-1", accountId = "000000000000", port = 0 } = options;
  // A history is in order, and what waits for an hour waits no longer where the clock is set back.
  const clock = steady(options.clock ?? systemClock);
  const folder = join(options.dataDir, "states");
  mkdirSync(folder, { recursive: true });
  const { room = new Room(options.dataDir) } = options;
  const machines = new Machines(join(folder, "machines.ndjson"));
  const executions = new Executions(folder, room);
  const { invokeLambda, onStatusChange, readObject = noObjects } = options;
  const live: LiveExecutions = new LiveExecutions(executions, {
    clock,
    room,
    invokeLambda,
    readObject,
    onStatusChange,
    prepare: (execution) => preparedBy(service, execution),
    startChild: (child, startedBy) => startChild(service, child, startedBy),
  });
  const service = { machines, executions, live, clock, region, accountId };
  const interrupted = room.isThere ? await live.recover() : [];
  const server = await listenForStates(service, { ...options, port, room });
  if (options.drives !== false) live.drive();
  return {
    url: server.url,
    interrupted: interrupted.map(({ name }) => name),
    drive: () => live.drive(),
    isAtWork: () => live.isAtWork(),
    idle: () => live.idle(),
    rest: () => live.rest(),
    stopBusy: (stop) => live.stopBusy(stop),
    async close() {
      await server.close();
      await live.shutDown();
      executions.close();
      machines.close();
    },
  };
}

/** Reads nothing: for callers without S3. */
export function noObjects(): Promise<never> {
  return Promise.reject(new Error("There is no S3 beside this Step Functions."));
}
