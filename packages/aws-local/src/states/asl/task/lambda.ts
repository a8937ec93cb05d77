import { isObject, type Json } from "../../../json.ts";
import type { Definition } from "../definition.ts";
import { assertWithinDataLimit, runtimeFailure, StateFailure } from "../failure.ts";
import type { LambdaCall } from "../host.ts";
import type { Visit } from "../state.ts";
import type { Thread } from "../thread.ts";
import type { Work } from "../work-state.ts";
import {
  compileTimeout,
  recordSubmitted,
  runRecorded,
  runRecordedTask,
  sdkResponse,
  throwFailure,
} from "./integration.ts";

/** Compiles a Task whose Resource is a Lambda function's ARN. Its input is the payload, its output the result. */
export function compileLambdaFunction(definition: Definition, resource: string): Work {
  const timeoutSeconds = compileTimeout(definition);

  async function attempt(parameters: Json, visit: Visit): Promise<Json> {
    const input = JSON.stringify(parameters);
    assertWithinDataLimit(input, visit.state.name);
    const call = { functionArn: resource, payload: input, handsOutToken: false, line: visit.thread };
    return runRecorded(
      { kind: "LambdaFunction", scheduled: { resource, input } },
      timeoutSeconds,
      visit,
      async (over) => {
        const output = await invoke(call, visit.thread, over);
        return { value: parseResult(output, resource), output };
      },
    );
  }
  return { type: "Task", attempt };
}

/**
 * Compiles the integration `lambda:invoke.waitForTaskToken`. Parameters name the function, which only starts work;
 * SendTaskSuccess delivers the result.
 */
export function compileLambdaInvoke(definition: Definition): Work {
  const timeoutSeconds = compileTimeout(definition);
  const task = { resourceType: "lambda", resource: "invoke.waitForTaskToken" };

  function prepare(visit: Visit): void {
    visit.pendingTask = visit.thread.run.host.issueToken();
  }

  async function attempt(parameters: Json, visit: Visit): Promise<Json> {
    const call = { ...readCall(parameters), line: visit.thread };
    return runRecordedTask(task, parameters, timeoutSeconds, visit, (over) => answer(call, visit, over));
  }

  /** Invokes the function, and waits for the answer to its token. After `over` has aborted it records no event. */
  async function answer(call: LambdaCall, { thread, pendingTask }: Visit, over: AbortSignal): Promise<Json> {
    // Starts to wait before it invokes the function, because the answer can arrive before the function ends.
    const answered = pendingTask?.answer(over) as Promise<Json>;
    const response = wrapResponse(parseResult(await invoke(call, thread, over), "lambda"), thread.run.host.uuid());
    if (!over.aborted) recordSubmitted(task, response, thread);
    return answered;
  }

  return { type: "Task", prepare, attempt };
}

function readCall(parameters: Json): Omit<LambdaCall, "line"> {
  const { FunctionName, Payload = {} } = isObject(parameters) ? parameters : {};
  if (typeof FunctionName !== "string" || !FunctionName.startsWith("arn:")) {
    throw runtimeFailure("The Parameters of lambda:invoke must give FunctionName, the ARN of a function.");
  }
  return { functionArn: FunctionName, payload: JSON.stringify(Payload), handsOutToken: true };
}

/**
 * Returns the response of Lambda's API, as the integration returns it. The version is always `$LATEST`: the emulator
 * has only one version of each function.
 */
function wrapResponse(payload: Json, requestId: string): Json {
  return {
    ExecutedVersion: "$LATEST",
    Payload: payload,
    ...sdkResponse(requestId, { "Content-Type": "application/json", "X-Amz-Executed-Version": "$LATEST" }),
    StatusCode: 200,
  };
}

/** Calls a Lambda function. Every error becomes the failure that AWS reports. */
async function invoke(call: LambdaCall, thread: Thread, over: AbortSignal): Promise<string> {
  const result = await thread.run.host.invokeLambda(call, over).catch(throwFailure);
  if (result.ok) return result.payload;
  const { errorType, errorMessage, trace } = result;
  throw new StateFailure(errorType, JSON.stringify({ errorType, errorMessage, trace }));
}

/**
 * Parses the result of a function.
 * @throws StateFailure for a result above the data limit (its message names `owner`), and for one that is not JSON
 */
function parseResult(payload: string, owner: string): Json {
  assertWithinDataLimit(payload, owner);
  try {
    return JSON.parse(payload);
  } catch (error) {
    throw new StateFailure(
      "States.TaskFailed",
      `The result of '${owner}' is not JSON: ${(error as SyntaxError).message}`,
    );
  }
}
