import type OpenAI from "openai";
import { explainFailure } from "./explain-failure.ts";
import { callLimitMs } from "./limits.ts";
import { ModelError } from "./model-error.ts";
import { requestId } from "./request-id.ts";

/** A vector per text, in their order. */
export async function embedTexts(client: OpenAI, model: string, texts: string[], host: string): Promise<number[][]> {
  const vectors = texts.length > 0 ? await requestVectors(client, model, texts, host) : [];
  if (vectors.length !== texts.length) {
    throw new ModelError(
      "invalid",
      `${host} sent ${vectors.length} vectors for ${texts.length} texts - unset NOVA_EMBEDDING_MODEL, or name another model there`,
    );
  }
  return vectors;
}

async function requestVectors(client: OpenAI, model: string, texts: string[], host: string): Promise<number[][]> {
  const options = { signal: AbortSignal.timeout(callLimitMs), headers: requestId("embedding") };
  try {
    const { data } = await client.embeddings.create({ model, input: texts, encoding_format: "float" }, options);
    return data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => embedding);
  } catch (cause) {
    const { reason, message } = explainFailure(cause, { role: "embedding", model, host });
    throw new ModelError(reason, message, undefined, { cause });
  }
}
