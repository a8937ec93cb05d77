import type OpenAI from "openai";
import { z } from "zod";
import { callLimitMs, requestId } from "./conversation.ts";
import { embeddingUsd, estimateEmbeddingUsd, noUsage } from "./cost.ts";
import { type CallTarget, explainFailure } from "./explain-failure.ts";
import { ModelError, whereNodesRun } from "./model-error.ts";
import type { Embedded, EmbeddingCall } from "./models.ts";
import { Counts, readResponse } from "./provider-answer.ts";
import { readUsage } from "./usage.ts";

/** Returns one vector per text, in the same order, with their cost. */
export async function embedTexts(client: OpenAI, call: EmbeddingCall, asked: CallTarget): Promise<Embedded> {
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

const EmbeddingsAnswer = z.object({
  data: z.array(z.object({ index: z.int(), embedding: z.array(z.number()) })),
  usage: Counts,
});

async function requestVectors(
  client: OpenAI,
  { texts, signal }: EmbeddingCall,
  asked: CallTarget,
): Promise<{ vectors: number[][]; input: number }> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(callLimitMs)]);
  try {
    const body = { model: asked.model, input: texts, encoding_format: "float" } as const;
    const options = { signal: within, headers: requestId(asked.role) };
    const response = await client.embeddings.create(body, options).asResponse();
    const { answer, bytes } = await readResponse(response, EmbeddingsAnswer);
    const { data, usage } = answer;
    const vectors = data.toSorted((a, b) => a.index - b.index).map(({ embedding }) => embedding);
    const counted = { input: usage?.prompt_tokens, cached: 0, cacheWrite: 0, output: 0 };
    const sentBytes = Buffer.byteLength(JSON.stringify(body));
    const exchanged = { sentBytes, receivedBytes: bytes, isAnswered: false, maxOutputTokens: 0 };
    return { vectors, input: readUsage(counted, exchanged).input };
  } catch (cause) {
    const { reason, message } = explainFailure(cause, asked);
    throw new ModelError(reason, message, undefined, { cause });
  }
}
