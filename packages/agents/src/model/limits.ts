import type { ModelCall } from "./models.ts";

/** A model call takes at most so long, retries and tools included. */
export const callLimitMs = 90_000;

/** Enough for a long node and the thoughts before it; more would only raise what a budget has to hold ready. */
const defaultOutputTokens = 8_000;

const defaultToolCalls = 5;

export function outputTokens({ maxOutputTokens }: Pick<ModelCall<unknown>, "maxOutputTokens">): number {
  return maxOutputTokens ?? defaultOutputTokens;
}

export function toolBudget({ maxToolCalls }: Pick<ModelCall<unknown>, "maxToolCalls">): number {
  return maxToolCalls ?? defaultToolCalls;
}

export function timeLimitMs({ timeoutMs }: Pick<ModelCall<unknown>, "timeoutMs">): number {
  return Math.min(timeoutMs ?? callLimitMs, callLimitMs);
}
