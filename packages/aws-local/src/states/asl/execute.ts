import type { Json } from "../../json.ts";
import { History, type HistoryEvent } from "../history.ts";
import { Cancelled, StateFailure } from "./failure.ts";
import type { Host } from "./host.ts";
import { enter, type StateMachine } from "./state.ts";
import { createChildController, Thread } from "./thread.ts";

export interface ExecutionStart {
  executionArn: string;
  roleArn: string;
  versionArn?: string | undefined;
  /** JSON text, as the client sent it. */
  input: string;
}

/**
 * The reason why the caller's signal aborts. `aborted`: StopExecution ends the execution. `shutdown`: only this process
 * ends, and the execution stays unfinished.
 */
export type Stop = { kind: "aborted"; error?: string; cause?: string } | { kind: "shutdown" };

export type Outcome =
  | { status: "SUCCEEDED"; output: string }
  | { status: "FAILED" | "ABORTED" | "TIMED_OUT"; error: string | undefined; cause: string | undefined };

/**
 * Records the start of an execution, before its first state runs. Returns the function that runs the execution to its
 * end; its result is undefined if a shutdown left the execution unfinished.
 */
export function prepareExecution(
  machine: StateMachine,
  { executionArn, roleArn, versionArn, input }: ExecutionStart,
  host: Host,
  write: (event: HistoryEvent) => void,
  signal: AbortSignal,
): () => Promise<Outcome | undefined> {
  const history = new History(host.now, write);
  const { controller, release } = createChildController(signal);
  const thread = new Thread({ host, history, executionArn }, controller.signal, 0);
  const version = versionArn === undefined ? {} : { stateMachineVersionArn: versionArn };
  history.record(0, "ExecutionStarted", { input, roleArn, ...version });
  if (machine.timeoutSeconds !== undefined) abortAfter(machine.timeoutSeconds, host, controller);
  return async () => {
    const outcome = await finish(machine, JSON.parse(input), thread);
    release();
    controller.abort("over");
    if (outcome) recordEnd(history, outcome, thread.lastEventId);
    return outcome;
  };
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

const endTypes = { FAILED: "ExecutionFailed", ABORTED: "ExecutionAborted", TIMED_OUT: "ExecutionTimedOut" } as const;

/**
 * Records the end of an execution. The previous event of the end is the last event outside all branches. If the
 * execution was stopped or timed out, the end has no previous event, as in AWS's histories.
 */
function recordEnd(history: History, { status, ...details }: Outcome, lastEventId: number): void {
  if (status === "SUCCEEDED") history.recordEnd(lastEventId, "ExecutionSucceeded", details);
  else history.recordEnd(status === "FAILED" ? lastEventId : 0, endTypes[status], details);
}
