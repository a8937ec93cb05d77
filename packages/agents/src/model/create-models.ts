import { z } from "zod";
import type { Conversation } from "./conversation.ts";
import { embedTexts } from "./embeddings.ts";
import { fetchAnswer } from "./fetch-answer.ts";
import { holdConversation } from "./hold-conversation.ts";
import { ModelError, whereNodesRun } from "./model-error.ts";
import type { ModelCall, Models } from "./models.ts";

/**
 * The models of an environment (`process.env` will do). Nothing is loaded or opened, and no key is asked for, before the
 * first call: what is frozen or hand-written needs none.
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

/** An empty variable is an absent one. */
const Variable = z
  .string()
  .optional()
  .transform((value) => value?.trim() || undefined);

const Url = z.url({
  protocol: /^https?$/,
  error: "OPENAI_BASE_URL is no URL - write it like http://127.0.0.1:11434/v1",
});
const Api = z.enum(["responses", "chat"], 'NOVA_LLM_API is neither "responses" nor "chat"');

/** The variables of the models, as they stand in `process.env`. */
export const ModelEnvironment = z.object({
  OPENAI_API_KEY: Variable,
  /** A compatible server, its path included. */
  OPENAI_BASE_URL: Variable.pipe(Url.optional()),
  /** `chat`: Chat Completions, for servers without the Responses API. */
  NOVA_LLM_API: Variable.pipe(Api.default("responses")),
  /** Of roles for which neither node nor workflow names one. */
  DEFAULT_MODEL: Variable,
  /** Without it nothing is embedded. */
  NOVA_EMBEDDING_MODEL: Variable,
});

export type ModelEnvironment = z.input<typeof ModelEnvironment>;
type ModelSettings = z.output<typeof ModelEnvironment>;

const openai = "https://api.openai.com/v1";

/** Of one request: a silent one is given up in time to try again within the call. */
const requestTimeoutMs = 60_000;

/**
 * The SDK's client and the API to speak. 429 (its Retry-After up to a minute), 408, 409, 5xx, timeouts and broken
 * connections are retried by the SDK, backing off from 0.5 to 8 s with jitter; the call's deadline ends them all.
 * It is loaded here and not before: only prompt nodes without pinned code need it.
 */
async function connect(settings: ModelSettings) {
  const [{ OpenAI }, { responsesConversation }, { chatConversation }] = await Promise.all([
    import("openai/client"),
    import("./responses-api.ts"),
    import("./chat-api.ts"),
  ]);
  const baseURL = settings.OPENAI_BASE_URL ?? openai;
  const client = new OpenAI({
    apiKey: settings.OPENAI_API_KEY ?? "none",
    baseURL,
    maxRetries: 4,
    timeout: requestTimeoutMs,
    fetch: fetchAnswer,
    // Its logs would hold prompts.
    logLevel: "off",
  });
  const { host } = new URL(baseURL);
  const compatible = host !== new URL(openai).host;
  return {
    client,
    host,
    open: <T>(call: ModelCall<T>): Conversation =>
      settings.NOVA_LLM_API === "chat"
        ? chatConversation(client, call, compatible)
        : responsesConversation(client, call, compatible),
  };
}
