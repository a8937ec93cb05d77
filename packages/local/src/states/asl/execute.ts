import type { Json } from "../../json.ts";
import { History, type HistoryEvent } from "../history.ts";
import { Cancelled, StateFailure } from "./failure.ts";
import type { Host } from "./host.ts";
import { enter, type StateMachine } from "./state.ts";
import { childOf, type Run, Thread } from "./thread.ts";

export interface ExecutionStart {
  executionArn: string;
  name: string;
  roleArn: string;
  stateMachine: { arn: string; name: string; versionArn?: string };
  /** JSON text, kept as it was sent. */
  input: string;
  region: string;
  accountId: string;
}

export interface Services {
  host: Host;
  write(event: HistoryEvent): void;
}

/** The reason a caller's signal carries: StopExecution, or the end of the process, which leaves the execution running. */
export type Stop = { kind: "aborted"; error?: string; cause?: string } | { kind: "shutdown" };

export type Outcome =
  | { status: "SUCCEEDED"; output: string }
  | { status: "FAILED" | "ABORTED" | "TIMED_OUT"; error: string | undefined; cause: string | undefined };

/** An execution whose start is recorded, so that it exists before its first state does anything. */
export interface PreparedExecution {
  /** Runs it to its end. Answers undefined where a shutdown left it unfinished. */
  run(): Promise<Outcome | undefined>;
}

export function prepareExecution(
  machine: StateMachine,
  start: ExecutionStart,
  services: Services,
  signal: AbortSignal,
): PreparedExecution {
  const history = new History(services.host.now, services.write);
  const { controller, release } = childOf(signal);
  const thread = new Thread(prepareRun(start, services.host, history), controller.signal, 0);
  recordStart(history, start);
  if (machine.timeoutSeconds !== undefined) abortAfter(machine.timeoutSeconds, services.host, controller);
  return {
    async run() {
      const outcome = await finish(machine, JSON.parse(start.input), thread);
      release();
      controller.abort("over");
      if (outcome) recordEnd(history, outcome, thread.lastEventId);
      return outcome;
    },
  };
}

function prepareRun(start: ExecutionStart, host: Host, history: History): Run {
  const { region, accountId, stateMachine } = start;
  const context = {
    Execution: {
      Id: start.executionArn,
      Input: JSON.parse(start.input) as Json,
      Name: start.name,
      RoleArn: start.roleArn,
      StartTime: new Date(host.now()).toISOString(),
      RedriveCount: 0,
    },
    StateMachine: { Id: stateMachine.arn, Name: stateMachine.name },
  };
  return { host, history, region, accountId, context };
}

async function finish(machine: StateMachine, input: Json, thread: Thread): Promise<Outcome | undefined> {
  try {
    return { status: "SUCCEEDED", output: JSON.stringify(await enter(machine, input, thread)) };
  } catch (error) {
    if (error instanceof Cancelled) return outcomeOfStop(thread.signal.reason);
    if (error instanceof StateFailure) return { status: "FAILED", error: error.error, cause: error.details };
    return { status: "FAILED", error: "States.Runtime", cause: `The local Step Functions failed: ${error}` };
  }
}

function outcomeOfStop(stop: Stop | { kind: "timedOut" }): Outcome | undefined {
  if (stop.kind === "shutdown") return undefined;
  if (stop.kind === "timedOut") return { status: "TIMED_OUT", error: undefined, cause: undefined };
  return { status: "ABORTED", error: stop.error, cause: stop.cause };
}

async function abortAfter(seconds: number, host: Host, controller: AbortController): Promise<void> {
  await host.sleep(seconds * 1000, "deadline", controller.signal);
  controller.abort({ kind: "timedOut" });
}

function recordStart(history: History, { input, roleArn, stateMachine }: ExecutionStart): void {
  history.record(0, {
    type: "ExecutionStarted",
    executionStartedEventDetails: {
      input,
      inputDetails: { truncated: false },
      roleArn,
      ...(stateMachine.versionArn === undefined ? {} : { stateMachineVersionArn: stateMachine.versionArn }),
    },
  });
}

/** AWS hangs the end of a stopped execution on nothing, any other end on the last event of the main line. */
export function recordEnd(history: History, outcome: Outcome, lastEventId: number): void {
  if (outcome.status === "SUCCEEDED") {
    const { output } = outcome;
    history.recordEnd(lastEventId, {
      type: "ExecutionSucceeded",
      executionSucceededEventDetails: { output, outputDetails: { truncated: false } },
    });
    return;
  }
  const { status, error, cause } = outcome;
  if (status === "FAILED") {
    history.recordEnd(lastEventId, { type: "ExecutionFailed", executionFailedEventDetails: { error, cause } });
  } else if (status === "ABORTED") {
    history.recordEnd(0, { type: "ExecutionAborted", executionAbortedEventDetails: { error, cause } });
  } else history.recordEnd(0, { type: "ExecutionTimedOut", executionTimedOutEventDetails: { error, cause } });
}
