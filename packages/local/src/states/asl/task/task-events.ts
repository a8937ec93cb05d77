import type { Json } from "../../../json.ts";
import { assertWithinDataLimit } from "../data-limit.ts";
import { StateFailure } from "../failure.ts";
import type { Visit } from "../state.ts";
import type { Thread } from "../thread.ts";
import type { Limits } from "./deadline.ts";

/** As histories name an optimized integration, such as `lambda` and `invoke`. */
export interface Task {
  resourceType: string;
  resource: string;
}

/** Runs `work` between the events of an optimized integration. */
export async function recordedTask(
  task: Task,
  parameters: Json,
  limits: Limits,
  visit: Visit,
  work: () => Promise<Json>,
): Promise<Json> {
  recordStart(task, parameters, limits, visit);
  try {
    const result = await work();
    const output = JSON.stringify(result);
    assertWithinDataLimit(output, task.resourceType);
    visit.thread.record({
      type: "TaskSucceeded",
      taskSucceededEventDetails: { ...task, output, outputDetails: { truncated: false } },
    });
    return result;
  } catch (error) {
    if (error instanceof StateFailure) recordFailure(task, error, visit.thread);
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

function recordStart(task: Task, parameters: Json, limits: Limits, { thread, state }: Visit): void {
  const { timeoutSeconds, heartbeatSeconds } = limits;
  const text = JSON.stringify(parameters);
  assertWithinDataLimit(text, state.name);
  thread.record({
    type: "TaskScheduled",
    taskScheduledEventDetails: {
      ...task,
      region: thread.run.region,
      parameters: text,
      ...(timeoutSeconds === undefined ? {} : { timeoutInSeconds: timeoutSeconds }),
      ...(heartbeatSeconds === undefined ? {} : { heartbeatInSeconds: heartbeatSeconds }),
    },
  });
  thread.record({ type: "TaskStarted", taskStartedEventDetails: task });
}

function recordFailure(task: Task, failure: StateFailure, thread: Thread): void {
  const details = { ...task, error: failure.error, cause: failure.details };
  if (failure.error === "States.Timeout") {
    thread.record({ type: "TaskTimedOut", taskTimedOutEventDetails: details });
  } else thread.record({ type: "TaskFailed", taskFailedEventDetails: details });
}
