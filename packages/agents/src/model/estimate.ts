import { costOf, embeddingUsd } from "./cost.ts";

/** Texts have about four bytes per token, code and other alphabets fewer; three is on the careful side. */
const bytesPerToken = 3;

/** The most that a request should cost: nothing of it cached, and an answer of full length. */
export function estimateUsd(model: string, body: unknown, maxOutputTokens: number): number {
  const input = tokensIn(JSON.stringify(body));
  return costOf(model, { input, cached: 0, cacheWrite: input, output: maxOutputTokens }).usd;
}

/** The most that embedding these texts should cost. */
export function estimateEmbeddingUsd(model: string, texts: readonly string[]): number {
  return embeddingUsd(model, tokensIn(texts.join("\n")));
}

function tokensIn(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}
