import { isObject, type Json, type JsonObject } from "../../../json.ts";
import type { Definition } from "../definition.ts";
import { runtimeFailure } from "../failure.ts";
import type { LambdaCall } from "../host.ts";
import type { Visit } from "../state.ts";
import type { Run } from "../thread.ts";
import type { Work } from "../work-state.ts";
import { compileSeconds, withinLimits } from "./deadline.ts";
import { invoke, parseResult } from "./invocation.ts";
import { sdkResponse } from "./sdk-response.ts";
import { recordedTask, recordSubmitted } from "./task-events.ts";

/**
 * The `lambda:invoke` integration: Parameters name the function, the result is wrapped as the Lambda API answers it.
 * With `.waitForTaskToken` the function only starts something; SendTaskSuccess brings the result.
 */
export function compileLambdaInvoke(definition: Definition, waitsForToken: boolean): Work {
  const timeout = compileSeconds(definition, "TimeoutSeconds");
  const heartbeat = compileSeconds(definition, "HeartbeatSeconds");
  const task = { resourceType: "lambda", resource: waitsForToken ? "invoke.waitForTaskToken" : "invoke" };

  function prepare(visit: Visit): void {
    visit.pendingTask = waitsForToken ? visit.thread.run.host.issueToken() : undefined;
  }

  async function attempt(selected: Json, parameters: Json, visit: Visit): Promise<Json> {
    const { thread, pendingTask } = visit;
    const scope = visit.scope(selected);
    const limits = { timeoutSeconds: timeout(scope), heartbeatSeconds: heartbeat(scope) };
    const call = { ...readCall(parameters, thread.run), handsOutToken: waitsForToken };
    return recordedTask(task, parameters, limits, visit, () =>
      withinLimits((over) => answer(call, visit, over), limits, thread, pendingTask),
    );
  }

  /** What the task resolves with; a wait that is `over` records nothing any more. */
  async function answer(call: LambdaCall, { thread, pendingTask }: Visit, over: AbortSignal): Promise<Json> {
    // Before the call: an answer can be there before the function has ended.
    const answered = pendingTask?.answer(over);
    const payload = parseResult(await invoke(call, thread, over), task.resourceType);
    const response = wrap(payload, thread.run.host.uuid());
    if (!answered || over.aborted) return response;
    recordSubmitted(task, response, thread);
    return answered;
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
  return {
    ExecutedVersion: "$LATEST",
    Payload: payload,
    ...sdkResponse(requestId, { "Content-Type": "application/json", "X-Amz-Executed-Version": "$LATEST" }),
    StatusCode: 200,
  };
}
