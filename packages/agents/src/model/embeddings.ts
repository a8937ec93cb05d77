import type OpenAI from "openai";
import { explainFailure } from "./explain-failure.ts";
import { callLimitMs } from "./limits.ts";
import { ModelError } from "./model-error.ts";
import { requestId } from "./request-id.ts";

/** A vector per text, in their order. */
export async function embedTexts(client: OpenAI, model: string, texts: string[], host: string): Promise<number[][]> {
  if (texts.length === 0) {
    return [];
  }
  try {
    const signal = AbortSignal.timeout(callLimitMs);
    const options = { signal, headers: requestId("embedding") };
    const { data } = await client.embeddings.create({ model, input: texts, encoding_format: "float" }, options);
    return data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => embedding);
  } catch (error) {
    const failure = explainFailure(error, { role: "embedding", model, host });
    throw new ModelError(failure.reason, failure.message, undefined, { cause: error });
  }
}
