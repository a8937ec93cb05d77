import type OpenAI from "openai";
import { callLimitMs, requestId } from "./conversation.ts";
import { embeddingUsd, estimateEmbeddingUsd, noUsage } from "./cost.ts";
import { type Asked, explainFailure } from "./explain-failure.ts";
import { ModelError, whereNodesRun } from "./model-error.ts";
import type { Embedded, EmbeddingCall } from "./models.ts";

/** A vector per text, in their order, and what they cost. */
export async function embedTexts(client: OpenAI, call: EmbeddingCall, asked: Asked): Promise<Embedded> {
  const { model, host } = asked;
  if (call.texts.length === 0) return { vectors: [], model, usage: noUsage, costUsd: 0 };
  call.signal.throwIfAborted();
  await call.beforeRequest?.(estimateEmbeddingUsd(model, call.texts));
  const { vectors, input } = await requestVectors(client, call, asked);
  const spent = { usage: { ...noUsage, input }, costUsd: embeddingUsd(model, input) };
  if (vectors.length === call.texts.length) return { vectors, model, ...spent };
  const advice = `unset NOVA_EMBEDDING_MODEL ${whereNodesRun}, or name another model in it`;
  const message = `${host} sent ${vectors.length} vectors for ${call.texts.length} texts - ${advice}`;
  throw new ModelError("invalid", message, spent);
}

async function requestVectors(
  client: OpenAI,
  { texts, signal }: EmbeddingCall,
  asked: Asked,
): Promise<{ vectors: number[][]; input: number }> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(callLimitMs)]);
  try {
    const { data, usage } = await client.embeddings.create(
      { model: asked.model, input: texts, encoding_format: "float" },
      { signal: within, headers: requestId(asked.role) },
    );
    const vectors = data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => embedding);
    // Some servers of one's own count nothing.
    return { vectors, input: (usage as typeof usage | undefined)?.prompt_tokens ?? 0 };
  } catch (cause) {
    const { reason, message } = explainFailure(cause, asked);
    throw new ModelError(reason, message, undefined, { cause });
  }
}
