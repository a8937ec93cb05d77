import type { Definition } from "../definition.ts";
import { HeartbeatMissed, runtimeFailure, StateFailure } from "../failure.ts";
import { DECIDED, type PendingTask } from "../host.ts";
import type { Scope } from "../scope.ts";
import { compileField } from "../state.ts";
import { childOf, orAborted, type Thread } from "../thread.ts";

export type Seconds = (scope: Scope) => number | undefined;

/** `TimeoutSeconds` or `TimeoutSecondsPath`; likewise for heartbeats. */
export function compileSeconds(definition: Definition, field: "TimeoutSeconds" | "HeartbeatSeconds"): Seconds {
  const fixed = definition.optionalInteger(field, 1, 99_999_999);
  const pathField = `${field}Path`;
  if (definition.atMostOne(field, pathField) !== pathField) return () => fixed;
  const read = compileField(definition, pathField);
  return (scope) => {
    const value = read(scope);
    if (typeof value === "number" && Number.isInteger(value) && value > 0) return value;
    throw runtimeFailure(`The ${pathField} field must refer to a positive integer, but gave ${JSON.stringify(value)}`);
  };
}

export interface Limits {
  timeoutSeconds: number | undefined;
  heartbeatSeconds: number | undefined;
}

/**
 * Waits for `work` as long as its limits allow; what it is given aborts when its result is not heard any more.
 * @throws StateFailure "States.Timeout"; the work itself is not stopped.
 */
export async function withinLimits<T>(
  work: (over: AbortSignal) => Promise<T>,
  limits: Limits,
  thread: Thread,
  task?: PendingTask,
): Promise<T> {
  const { timeoutSeconds, heartbeatSeconds } = limits;
  const { controller, release } = childOf(thread.signal);
  const contenders: Promise<T>[] = [orAborted(work(controller.signal), thread.signal)];
  if (timeoutSeconds !== undefined) contenders.push(timeout(timeoutSeconds, thread, controller.signal));
  if (heartbeatSeconds !== undefined) contenders.push(silence(heartbeatSeconds, thread, controller.signal, task));
  try {
    return await Promise.race(contenders);
  } finally {
    // A reason of our own: making the default one, an exception with a stack, costs more than the race.
    controller.abort(DECIDED);
    release();
  }
}

async function timeout(seconds: number, thread: Thread, over: AbortSignal): Promise<never> {
  await thread.run.host.sleep(seconds * 1000, "deadline", over);
  if (over.aborted) return never();
  throw new StateFailure("States.Timeout");
}

/** Each heartbeat starts the count anew; it never moves the timeout. */
async function silence(seconds: number, thread: Thread, over: AbortSignal, task?: PendingTask): Promise<never> {
  const { host } = thread.run;
  const startedMs = host.now();
  for (let leftMs = seconds * 1000; leftMs > 0; ) {
    await host.sleep(leftMs, "deadline", over);
    if (over.aborted) return never();
    leftMs = (task?.lastBeatMs ?? startedMs) + seconds * 1000 - host.now();
  }
  throw new HeartbeatMissed();
}

/** The race is decided; whoever lost it stays silent. */
function never(): Promise<never> {
  return new Promise(() => {});
}
