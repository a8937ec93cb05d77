import type OpenAI from "openai";
import { z } from "zod";
import { embeddingUsd, estimateEmbeddingUsd, noUsage, readUsage } from "./cost.ts";
import { type CallTarget, explainFailure } from "./explain-failure.ts";
import { holdConversation } from "./hold-conversation.ts";
import { ModelError, whereNodesRun } from "./model-error.ts";
import type { Conversation, Embedded, EmbeddingCall, ModelCall, Models } from "./models.ts";
import { callLimitMs, requestId } from "./models.ts";
import { Counts, fetchAnswer, readResponse } from "./provider-answer.ts";

/**
 * Creates the access to models from variables such as `process.env`. It loads the SDK and requires a key only at the
 * first call, because frozen and hand-written nodes need no model.
 */
export function createModels(environment: ModelEnvironment): Models {
  const settings = settingsOf(environment);
  let provider: ReturnType<typeof connect> | undefined;
  const connected = async () => {
    requireAccess(settings);
    provider ??= connect(settings);
    return provider;
  };
  return {
    async ask<T>(call: ModelCall<T>) {
      const { open, host } = await connected();
      return holdConversation(call, open(call), { role: call.role, model: call.model, host });
    },
    embed(call) {
      const model = settings.NOVA_EMBEDDING_MODEL;
      if (!model) return null;
      return connected().then(({ client, host }) => embedTexts(client, call, { role: "embedding", model, host }));
    },
  };
}

function settingsOf(environment: ModelEnvironment): ModelSettings {
  const { success, data, error } = ModelEnvironment.safeParse(environment);
  if (success) return data;
  const problems = error.issues.map(({ message }) => message).join("; ");
  throw new Error(`models cannot be called: ${problems}`, { cause: error });
}

function requireAccess({ OPENAI_API_KEY, OPENAI_BASE_URL }: ModelSettings): void {
  if (OPENAI_API_KEY || OPENAI_BASE_URL) return;
  const variables = `set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own, ${whereNodesRun}`;
  const message = `no model can be called: ${variables}, or run only locked code with \`nova run --frozen\``;
  throw new ModelError("unauthorized", message);
}

/** Treats an empty variable as absent. */
const Variable = z
  .string()
  .optional()
  .transform((value) => value?.trim() || undefined);

const Url = z.url({
  protocol: /^https?$/,
  error: "OPENAI_BASE_URL is no URL - write it like http://127.0.0.1:11434/v1",
});
const Api = z.enum(["responses", "chat"], 'NOVA_LLM_API is neither "responses" nor "chat"');

/** Environment variables that configure the access to models. */
export const ModelEnvironment = z.object({
  OPENAI_API_KEY: Variable,
  OPENAI_BASE_URL: Variable.pipe(Url.optional()),
  /** `chat` uses Chat Completions, for servers without the Responses API. */
  NOVA_LLM_API: Variable.pipe(Api.default("responses")),
  /** Model for roles without a model in the node or workflow. */
  DEFAULT_MODEL: Variable,
  /** Embedding model. Without it no task is embedded. */
  NOVA_EMBEDDING_MODEL: Variable,
});

export type ModelEnvironment = z.input<typeof ModelEnvironment>;
type ModelSettings = z.output<typeof ModelEnvironment>;

const openai = "https://api.openai.com/v1";

/** Timeout of one request. It leaves time for a second request within the time limit of the call. */
const requestTimeoutMs = 60_000;

/**
 * Loads the SDK and chooses the API. Loading happens here, because only prompt nodes without pinned code need it. Until
 * the deadline of the call, the SDK retries 429 (with Retry-After up to a minute), 408, 409, 5xx, timeouts and broken
 * connections. Its pauses are 0.5 to 8 s long, with jitter.
 */
async function connect(settings: ModelSettings) {
  const [{ OpenAI }, apis] = await Promise.all([import("openai/client"), import("./apis.ts")]);
  const baseURL = settings.OPENAI_BASE_URL ?? openai;
  const client = new OpenAI({
    apiKey: settings.OPENAI_API_KEY ?? "none",
    baseURL,
    maxRetries: 4,
    timeout: requestTimeoutMs,
    fetch: fetchAnswer,
    // Turns the SDK's logs off, because they would contain prompts.
    logLevel: "off",
  });
  const { host } = new URL(baseURL);
  const compatible = host !== new URL(openai).host;
  return {
    client,
    host,
    open<T>(call: ModelCall<T>): Conversation {
      const isChat = settings.NOVA_LLM_API === "chat";
      return (isChat ? apis.chatConversation : apis.responsesConversation)(client, call, compatible);
    },
  };
}

/** Returns one vector per text, in the same order, with their cost. */
async function embedTexts(client: OpenAI, call: EmbeddingCall, asked: CallTarget): Promise<Embedded> {
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

async function requestVectors(client: OpenAI, { texts, signal }: EmbeddingCall, asked: CallTarget) {
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
