import type { InvokeLambda, LambdaResult } from "../../../../packages/aws-local/src/lambda-types.ts";
import { type RunOptions, type RunResult, runStateMachine } from "./run-state-machine.ts";
import { virtualClock } from "./virtual-clock.ts";

export const FUNCTION = "arn:aws:lambda:us-east-1:000000000000:function:work";

/** Returns the outcome of a function that returns `value`. */
export function answer(value: unknown): LambdaResult {
  return { ok: true, payload: JSON.stringify(value) };
}

export function failure(errorType: string, errorMessage = "it broke"): LambdaResult {
  return { ok: false, errorType, errorMessage, trace: [`${errorType}: ${errorMessage}`, "    at handler"] };
}

/** Returns a function that gives the scripted results one by one, and rejects a call beyond the script. */
export function scripted(...script: (LambdaResult | Error)[]): { invokeLambda: InvokeLambda; payloads: unknown[] } {
  const payloads: unknown[] = [];
  return {
    payloads,
    async invokeLambda(_arn, payload) {
      const next = script[payloads.length];
      payloads.push(JSON.parse(payload));
      if (next === undefined) throw new Error(`unexpected call ${payloads.length}`);
      if (next instanceof Error) throw next;
      return next;
    },
  };
}

/** A function that rejects every call. */
export const noLambda: InvokeLambda = scripted().invokeLambda;

export const echo: InvokeLambda = async (_arn, payload) => ({ ok: true, payload });

/** Runs a state machine that starts and ends with the given state, which is named `S`. `more` has further states. */
export function runState(
  state: object,
  input: unknown,
  options: Partial<RunOptions> & { more?: object } = {},
): Promise<RunResult> {
  const { more = {}, ...rest } = options;
  const isEnd = !("Next" in state) && !["Choice", "Fail", "Succeed"].includes((state as { Type: string }).Type);
  const definition = { StartAt: "S", States: { S: isEnd ? { ...state, End: true } : state, ...more } };
  return runStateMachine(definition, input, { invokeLambda: noLambda, clock: virtualClock(), ...rest });
}

/**
 * Lists the events of a history in a short form: `3<2 ChoiceStateExited` is event 3, whose previous event is event 2.
 */
export function outline(result: RunResult): string[] {
  return result.events.map(({ id, previousEventId, type }) => `${id}<${previousEventId} ${type}`);
}
