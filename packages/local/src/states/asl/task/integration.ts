import type { Json, JsonObject } from "../../../json.ts";
import type { Definition } from "../definition.ts";
import { assertWithinDataLimit, StateFailure } from "../failure.ts";
import { DECIDED } from "../host.ts";
import type { Visit } from "../state.ts";
import { childOf, orAborted, type Thread } from "../thread.ts";

/** As histories name an optimized integration, such as `lambda` and `invoke`. */
export interface Task {
  resourceType: string;
  resource: string;
}

export function compileTimeout(definition: Definition): number | undefined {
  return definition.optionalInteger("TimeoutSeconds", 1, 99_999_999);
}

/**
 * Waits for `work` as long as it may take; what it is given aborts when its result is not heard any more.
 * @throws StateFailure "States.Timeout"; the work itself is not stopped.
 */
export async function withinTime<T>(
  work: (over: AbortSignal) => Promise<T>,
  timeoutSeconds: number | undefined,
  thread: Thread,
): Promise<T> {
  const { controller, release } = childOf(thread.signal);
  const contenders: Promise<T>[] = [orAborted(work(controller.signal), thread.signal)];
  if (timeoutSeconds !== undefined) contenders.push(timeout(timeoutSeconds, thread, controller.signal));
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
  // The race is decided; the loser stays silent.
  if (over.aborted) return new Promise(() => {});
  throw new StateFailure("States.Timeout");
}

/** Runs `work` between the events of an optimized integration. */
export async function recordedTask(
  task: Task,
  parameters: Json,
  timeoutSeconds: number | undefined,
  { thread, state }: Visit,
  work: (over: AbortSignal) => Promise<Json>,
): Promise<Json> {
  const text = JSON.stringify(parameters);
  assertWithinDataLimit(text, state.name);
  thread.record({
    type: "TaskScheduled",
    taskScheduledEventDetails: {
      ...task,
      region: thread.run.region,
      parameters: text,
      ...(timeoutSeconds === undefined ? {} : { timeoutInSeconds: timeoutSeconds }),
    },
  });
  thread.record({ type: "TaskStarted", taskStartedEventDetails: task });
  try {
    const result = await withinTime(work, timeoutSeconds, thread);
    const output = JSON.stringify(result);
    assertWithinDataLimit(output, task.resourceType);
    thread.record({
      type: "TaskSucceeded",
      taskSucceededEventDetails: { ...task, output, outputDetails: { truncated: false } },
    });
    return result;
  } catch (error) {
    if (error instanceof StateFailure) recordFailure(task, error, thread);
    throw error;
  }
}

/** What was asked for is under way; its result comes later. */
export function recordSubmitted(task: Task, response: Json, thread: Thread): void {
  thread.record({
    type: "TaskSubmitted",
    taskSubmittedEventDetails: { ...task, output: JSON.stringify(response), outputDetails: { truncated: false } },
  });
}

function recordFailure(task: Task, failure: StateFailure, thread: Thread): void {
  const details = { ...task, error: failure.error, cause: failure.details };
  if (failure.error === "States.Timeout") {
    thread.record({ type: "TaskTimedOut", taskTimedOutEventDetails: details });
  } else thread.record({ type: "TaskFailed", taskFailedEventDetails: details });
}

/** What an optimized integration adds to the answer of a service's API. */
export function sdkResponse(requestId: string, headers: Record<string, string>): JsonObject {
  const all = { ...headers, "x-amzn-RequestId": requestId };
  return {
    SdkHttpMetadata: {
      AllHttpHeaders: Object.fromEntries(Object.entries(all).map(([name, value]) => [name, [value]])),
      HttpHeaders: all,
      HttpStatusCode: 200,
    },
    SdkResponseMetadata: { RequestId: requestId },
  };
}
