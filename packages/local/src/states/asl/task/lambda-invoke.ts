import { assertWithinDataLimit } from "../data-limit.ts";
import type { Definition } from "../definition.ts";
import { runtimeFailure, StateFailure } from "../failure.ts";
import { isObject, type Json, type JsonObject } from "../json.ts";
import type { LambdaCall } from "../outside.ts";
import type { Visit } from "../state.ts";
import type { Run } from "../thread.ts";
import type { Work } from "../work-state.ts";
import { compileSeconds, type Limits, withinLimits } from "./deadline.ts";
import { invoke, parseResult } from "./invocation.ts";

/**
 * The `lambda:invoke` integration: Parameters name the function, the result is wrapped as the Lambda API answers it.
 * With `.waitForTaskToken` the function only starts something; SendTaskSuccess brings the result.
 */
export function compileLambdaInvoke(definition: Definition, waitsForToken: boolean): Work {
  const timeout = compileSeconds(definition, "TimeoutSeconds");
  const heartbeat = compileSeconds(definition, "HeartbeatSeconds");
  const task = { resourceType: "lambda", resource: waitsForToken ? "invoke.waitForTaskToken" : "invoke" };

  function prepare(visit: Visit): void {
    visit.pendingTask = waitsForToken ? visit.thread.run.outside.issueToken() : undefined;
  }

  async function attempt(selected: Json, parameters: Json, visit: Visit): Promise<Json> {
    const { thread, pendingTask } = visit;
    const scope = visit.scope(selected);
    const limits = { timeoutSeconds: timeout(scope), heartbeatSeconds: heartbeat(scope) };
    const call = { ...readCall(parameters, thread.run), handsOutToken: waitsForToken };
    recordStart(parameters, limits, visit);
    try {
      const result = await withinLimits((over) => answer(call, visit, over), limits, thread, pendingTask);
      const output = JSON.stringify(result);
      assertWithinDataLimit(output, task.resourceType);
      thread.record({
        type: "TaskSucceeded",
        taskSucceededEventDetails: { ...task, output, outputDetails: { truncated: false } },
      });
      return result;
    } catch (error) {
      if (error instanceof StateFailure) recordFailure(error, visit);
      throw error;
    }
  }

  /** What the task resolves with; a wait that is `over` records nothing any more. */
  async function answer(call: LambdaCall, { thread, pendingTask }: Visit, over: AbortSignal): Promise<Json> {
    // Before the call: an answer can be there before the function has ended.
    const answered = pendingTask?.answer(over);
    const payload = parseResult(await invoke(call, thread, over), task.resourceType);
    const response = wrap(payload, thread.run.outside.uuid());
    if (!answered || over.aborted) return response;
    thread.record({
      type: "TaskSubmitted",
      taskSubmittedEventDetails: { ...task, output: JSON.stringify(response), outputDetails: { truncated: false } },
    });
    return answered;
  }

  function recordStart(parameters: Json, { timeoutSeconds, heartbeatSeconds }: Limits, visit: Visit): void {
    const text = JSON.stringify(parameters);
    assertWithinDataLimit(text, visit.state.name);
    visit.thread.record({
      type: "TaskScheduled",
      taskScheduledEventDetails: {
        ...task,
        region: visit.thread.run.region,
        parameters: text,
        ...(timeoutSeconds === undefined ? {} : { timeoutInSeconds: timeoutSeconds }),
        ...(heartbeatSeconds === undefined ? {} : { heartbeatInSeconds: heartbeatSeconds }),
      },
    });
    visit.thread.record({ type: "TaskStarted", taskStartedEventDetails: task });
  }

  function recordFailure(failure: StateFailure, { thread }: Visit): void {
    const details = { ...task, error: failure.error, cause: failure.details };
    if (failure.error === "States.Timeout") {
      thread.record({ type: "TaskTimedOut", taskTimedOutEventDetails: details });
    } else thread.record({ type: "TaskFailed", taskFailedEventDetails: details });
  }

  return { type: "Task", prepare, attempt };
}

function readCall(parameters: Json, { region, accountId }: Run): Omit<LambdaCall, "handsOutToken"> {
  if (!isObject(parameters) || typeof parameters.FunctionName !== "string") {
    throw runtimeFailure("The Parameters of lambda:invoke must give FunctionName, the name or the ARN of a function.");
  }
  const name = parameters.FunctionName;
  const arn = name.startsWith("arn:") ? name : `arn:aws:lambda:${region}:${accountId}:function:${name}`;
  const qualifier = typeof parameters.Qualifier === "string" ? parameters.Qualifier : undefined;
  return {
    functionArn: qualifier === undefined ? arn : `${arn}:${qualifier}`,
    payload: JSON.stringify(parameters.Payload ?? {}),
  };
}

/** The Lambda API's answer, as the integration hands it on. A laptop has one version of each function. */
function wrap(payload: Json, requestId: string): JsonObject {
  const headers = {
    "Content-Type": "application/json",
    "X-Amz-Executed-Version": "$LATEST",
    "x-amzn-RequestId": requestId,
  };
  return {
    ExecutedVersion: "$LATEST",
    Payload: payload,
    SdkHttpMetadata: {
      AllHttpHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
      HttpHeaders: headers,
      HttpStatusCode: 200,
    },
    SdkResponseMetadata: { RequestId: requestId },
    StatusCode: 200,
  };
}
