import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "../clock.ts";
import type { InvokeLambda, LambdaResult } from "../lambda-types.ts";
import { assertPayloadFits, callHandler, type Invocation, timedOut } from "./call-handler.ts";
import {
  functionNameOf,
  functionNotFound,
  killed,
  type LambdaFunction,
  type LambdaFunctions,
} from "./lambda-function.ts";

/**
 * Runs functions in this process. Nothing can stop a handler here: one that is killed or out of time goes on unheard,
 * as a Lambda cut off from its caller does.
 */
export function createLambdaRuntime(options: { functions: LambdaFunctions; clock?: Clock }): InvokeLambda {
  const { functions, clock = systemClock } = options;
  return async (functionArn, payload, signal, onBegin) => {
    const functionName = functionNameOf(functionArn);
    if (!Object.hasOwn(functions, functionName)) throw functionNotFound(functionArn);
    assertPayloadFits(payload);
    const fn = functions[functionName] as LambdaFunction;
    const deadlineMs = clock.now() + fn.timeoutSeconds * 1000;
    const invocation = { functionArn, functionName, payload, requestId: randomUUID(), deadlineMs };
    onBegin?.();
    return withDeadline(callHandler(fn, invocation, clock.now), invocation, fn.timeoutSeconds, clock, signal);
  };
}

/** Answers first of: the handler, its deadline, the signal (by rejecting as a killed function does). */
export async function withDeadline(
  call: Promise<LambdaResult>,
  invocation: Invocation,
  timeoutSeconds: number,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<LambdaResult> {
  const over = new AbortController();
  const { promise: kill, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(killed());
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  const deadline = clock.sleep(timeoutSeconds * 1000, over.signal).then(() => timedOut(invocation, timeoutSeconds));
  try {
    return await Promise.race([kill, call, deadline]);
  } finally {
    over.abort("over");
    signal?.removeEventListener("abort", onAbort);
  }
}
