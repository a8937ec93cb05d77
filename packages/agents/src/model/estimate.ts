import { costOf } from "./cost.ts";

/** Texts have about four bytes per token, code and other alphabets fewer; three is on the careful side. */
const bytesPerToken = 3;

/** The most that a request should cost: nothing of it cached, and an answer of full length. */
export function estimateUsd(model: string, body: unknown, maxOutputTokens: number): number {
  const input = Math.ceil(Buffer.byteLength(JSON.stringify(body)) / bytesPerToken);
  return costOf(model, { input, cached: 0, cacheWrite: input, output: maxOutputTokens }).usd;
}
