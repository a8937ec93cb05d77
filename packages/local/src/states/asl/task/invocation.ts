import type { Json } from "../../../json.ts";
import type { LambdaResult } from "../../../lambda-types.ts";
import { assertWithinDataLimit } from "../data-limit.ts";
import { StateFailure } from "../failure.ts";
import type { LambdaCall } from "../host.ts";
import type { Thread } from "../thread.ts";

/** Calls a Lambda function; every way in which that goes wrong becomes the failure that AWS reports. */
export async function invoke(call: LambdaCall, thread: Thread, over: AbortSignal): Promise<string> {
  let result: LambdaResult;
  try {
    result = await thread.run.host.invokeLambda(call, over);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new StateFailure(error.name, error.message);
  }
  if (result.ok) return result.payload;
  const { errorType, errorMessage, trace } = result;
  throw new StateFailure(errorType, JSON.stringify({ errorType, errorMessage, trace }));
}

/** @throws StateFailure for a result over the limit (`owner` as AWS names it) or one that is not JSON. */
export function parseResult(payload: string, owner: string): Json {
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
