import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { InvokeLambda } from "../lambda-types.ts";
import { TaskTokens } from "./asl/task/task-tokens.ts";
import { type Clock, systemClock } from "./clock.ts";
import type { HistoryEvent } from "./history.ts";
import { LiveExecutions } from "./live-executions.ts";
import { listen } from "./server/listen.ts";
import type { StatusChange } from "./status-change.ts";
import { Executions } from "./store/executions.ts";
import { Machines } from "./store/machines.ts";

export interface StatesOptions {
  /** State machines and executions live in its folder `states`; one process owns it at a time. */
  dataDir: string;
  accessKeyId: string;
  region?: string;
  accountId?: string;
  invokeLambda: InvokeLambda;
  /** Called when an execution has ended; not for those found interrupted on opening. */
  onStatusChange(change: StatusChange): void | Promise<void>;
  clock?: Clock;
  port?: number;
}

export interface States {
  url: string;
  /** Names of executions that a process left running when it stopped; they are ABORTED now. */
  interrupted: string[];
  /** Resolves when no execution is running and every status change was taken. */
  idle(): Promise<void>;
  /** Stops serving; what still runs is found interrupted by the next to open the folder. */
  close(): Promise<void>;
}

/** Opens Step Functions over a data folder. */
export async function openStates(options: StatesOptions): Promise<States> {
  const { region = "us-east-1", accountId = "000000000000", clock = systemClock, port = 0 } = options;
  const folder = join(options.dataDir, "states");
  mkdirSync(folder, { recursive: true });
  const machines = new Machines(join(folder, "machines.ndjson"));
  const executions = new Executions(folder);
  const interrupted = executions.endInterrupted((events) => interruption(events, clock)).map(({ name }) => name);
  const tokens = new TaskTokens(clock.now);
  const { invokeLambda, onStatusChange } = options;
  const live = new LiveExecutions(executions, { clock, invokeLambda, tokens, onStatusChange });
  const service = { machines, executions, live, tokens, clock, region, accountId };
  const server = await listen(service, options.accessKeyId, port);
  return {
    url: server.url,
    interrupted,
    idle: () => live.idle(),
    async close() {
      await server.close();
      await live.shutDown();
      executions.close();
      machines.close();
    },
  };
}

function interruption(events: HistoryEvent[], clock: Clock): HistoryEvent {
  return {
    timestamp: clock.now() / 1000,
    id: (events.at(-1)?.id ?? 0) + 1,
    previousEventId: 0,
    type: "ExecutionAborted",
    executionAbortedEventDetails: {
      error: "Interrupted",
      cause: "The local cloud stopped while this execution was running.",
    },
  };
}
