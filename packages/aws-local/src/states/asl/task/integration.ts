import type { Json, JsonObject } from "../../../json.ts";
import type { Definition } from "../definition.ts";
import { assertWithinDataLimit, StateFailure } from "../failure.ts";
import { DECIDED } from "../host.ts";
import type { Visit } from "../state.ts";
import { createChildController, raceAbort, type Thread } from "../thread.ts";

/** The resource of an optimized integration, as histories name it: `lambda` and `invoke`, for example. */
export interface Task {
  resourceType: string;
  resource: string;
}

export function compileTimeout(definition: Definition): number | undefined {
  return definition.optionalInteger("TimeoutSeconds", 1, 99_999_999);
}

/** Runs `work`, and records the events of an optimized integration before and after it. */
export function runRecordedTask(
  task: Task,
  parameters: Json,
  timeoutSeconds: number | undefined,
  visit: Visit,
  work: (over: AbortSignal) => Promise<Json>,
): Promise<Json> {
  const text = JSON.stringify(parameters);
  assertWithinDataLimit(text, visit.state.name);
  const region = visit.thread.run.executionArn.split(":")[3];
  const scheduled = { region, parameters: text };
  return runRecorded({ kind: "Task", common: task, scheduled }, timeoutSeconds, visit, async (over) => {
    const value = await work(over);
    const output = JSON.stringify(value);
    assertWithinDataLimit(output, task.resourceType);
    return { value, output };
  });
}

interface Recording {
  /** The prefix of the types of the recorded events. */
  kind: "Task" | "LambdaFunction";
  /** Details that every recorded event gets. */
  common?: Task;
  /** Further details of the first event, whose type ends with `Scheduled`. */
  scheduled: object;
}

/** Runs `work`, and records its start and its end. `work` returns its result as a value and as JSON text (`output`). */
export async function runRecorded(
  { kind, common, scheduled }: Recording,
  timeoutSeconds: number | undefined,
  { thread }: Visit,
  work: (over: AbortSignal) => Promise<{ value: Json; output: string }>,
): Promise<Json> {
  const limit = timeoutSeconds === undefined ? {} : { timeoutInSeconds: timeoutSeconds };
  thread.record(`${kind}Scheduled`, { ...common, ...scheduled, ...limit });
  thread.record(`${kind}Started`, common);
  try {
    const { value, output } = await raceTimeout(work, timeoutSeconds, thread);
    thread.record(`${kind}Succeeded`, { ...common, output });
    return value;
  } catch (failure) {
    if (!(failure instanceof StateFailure)) throw failure;
    const { error, details: cause } = failure;
    thread.record(`${kind}${error === "States.Timeout" ? "TimedOut" : "Failed"}`, { ...common, error, cause });
    throw failure;
  }
}

/**
 * Waits for `work`, but no longer than its timeout. The signal that `work` receives aborts when its result is no longer
 * needed.
 * @throws StateFailure "States.Timeout" after the timeout; `work` itself continues
 */
async function raceTimeout<T>(
  work: (over: AbortSignal) => Promise<T>,
  timeoutSeconds: number | undefined,
  thread: Thread,
): Promise<T> {
  const { controller, release } = createChildController(thread.signal);
  const contenders: Promise<T>[] = [raceAbort(work(controller.signal), thread.signal)];
  if (timeoutSeconds !== undefined) contenders.push(timeout(timeoutSeconds, thread, controller.signal));
  try {
    return await Promise.race(contenders);
  } finally {
    // Passes a reason, because Node would otherwise create an exception with a stack trace, which is slow.
    controller.abort(DECIDED);
    release();
  }
}

async function timeout(seconds: number, thread: Thread, over: AbortSignal): Promise<never> {
  await thread.run.host.sleep(seconds * 1000, "deadline", over);
  // The work has ended before its timeout, so this promise never settles.
  if (over.aborted) return new Promise(() => {});
  throw new StateFailure("States.Timeout");
}

/** Records that the service has accepted the request. The result of the task comes later. */
export function recordSubmitted(task: Task, response: Json, thread: Thread): void {
  thread.record("TaskSubmitted", { ...task, output: JSON.stringify(response) });
}

/** Returns the fields that an optimized integration adds to a service's response. */
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

/** Turns an error of a service into the failure that AWS reports. */
export function throwFailure(error: unknown): never {
  if (!(error instanceof Error)) throw error;
  throw new StateFailure(error.name, error.message);
}
