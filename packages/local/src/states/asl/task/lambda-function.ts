import type { Json } from "../../../json.ts";
import { assertWithinDataLimit } from "../data-limit.ts";
import type { Definition } from "../definition.ts";
import { StateFailure } from "../failure.ts";
import type { Visit } from "../state.ts";
import type { Work } from "../work-state.ts";
import { compileSeconds, withinLimits } from "./deadline.ts";
import { invoke, parseResult } from "./invocation.ts";

/** A Task whose Resource is the ARN of a Lambda function: the payload goes in, the result comes out, nothing around. */
export function compileLambdaFunction(definition: Definition, resource: string): Work {
  const timeout = compileSeconds(definition, "TimeoutSeconds");
  const heartbeat = compileSeconds(definition, "HeartbeatSeconds");

  async function attempt(selected: Json, parameters: Json, visit: Visit): Promise<Json> {
    const { thread } = visit;
    const scope = visit.scope(selected);
    const limits = { timeoutSeconds: timeout(scope), heartbeatSeconds: heartbeat(scope) };
    const payload = JSON.stringify(parameters);
    const call = { functionArn: resource, payload, handsOutToken: false };
    assertWithinDataLimit(payload, visit.state.name);
    thread.record({
      type: "LambdaFunctionScheduled",
      lambdaFunctionScheduledEventDetails: {
        resource,
        input: payload,
        inputDetails: { truncated: false },
        ...(limits.timeoutSeconds === undefined ? {} : { timeoutInSeconds: limits.timeoutSeconds }),
      },
    });
    thread.record({ type: "LambdaFunctionStarted" });
    try {
      const result = await withinLimits((over) => invoke(call, thread, over), limits, thread);
      const value = parseResult(result, resource);
      thread.record({
        type: "LambdaFunctionSucceeded",
        lambdaFunctionSucceededEventDetails: { output: result, outputDetails: { truncated: false } },
      });
      return value;
    } catch (error) {
      if (error instanceof StateFailure) recordFailure(error, visit);
      throw error;
    }
  }

  return { type: "Task", attempt };
}

function recordFailure(failure: StateFailure, { thread }: Visit): void {
  const details = { error: failure.error, cause: failure.details };
  if (failure.error === "States.Timeout") {
    thread.record({ type: "LambdaFunctionTimedOut", lambdaFunctionTimedOutEventDetails: details });
  } else thread.record({ type: "LambdaFunctionFailed", lambdaFunctionFailedEventDetails: details });
}
