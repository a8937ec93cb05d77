import type OpenAI from "openai";
import type { Conversation } from "./conversation.ts";
import type { ModelSettings } from "./environment.ts";
import type { ModelCall } from "./models.ts";
import { fetchWhole } from "./whole-answer.ts";

export interface Provider {
  client: OpenAI;
  host: string;
  open<T>(call: ModelCall<T>): Conversation;
}

const openai = "https://api.openai.com/v1";

/** Of one request: a silent one is given up in time to try again within the call. */
const requestTimeoutMs = 60_000;

/**
 * The SDK's client and the API to speak. 429 (its Retry-After up to a minute), 408, 409, 5xx, timeouts and broken
 * connections are retried by the SDK, backing off from 0.5 to 8 s with jitter; the call's deadline ends them all.
 * It is loaded here and not before: only prompt nodes without pinned code need it.
 */
export async function connect(settings: ModelSettings): Promise<Provider> {
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
    fetch: fetchWhole,
    // Its logs would hold prompts.
    logLevel: "off",
  });
  const { host } = new URL(baseURL);
  const compatible = host !== new URL(openai).host;
  return {
    client,
    host,
    open: (call) =>
      settings.NOVA_LLM_API === "chat"
        ? chatConversation(client, call, compatible)
        : responsesConversation(client, call),
  };
}
