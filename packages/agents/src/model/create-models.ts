import { embedTexts } from "./embeddings.ts";
import { ModelEnvironment, type ModelSettings } from "./environment.ts";
import { holdConversation } from "./hold-conversation.ts";
import { ModelError } from "./model-error.ts";
import type { ModelCall, Models } from "./models.ts";
import { connect, type Provider } from "./provider.ts";
import { whereNodesRun } from "./where-nodes-run.ts";

/**
 * The models of an environment (`process.env` will do). Nothing is loaded or opened, and no key is asked for, before the
 * first call: what is frozen or hand-written needs none.
 */
export function createModels(environment: ModelEnvironment): Models {
  const settings = settingsOf(environment);
  let provider: Promise<Provider> | undefined;
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
      return model ? connected().then(({ client, host }) => embedTexts(client, call, { model, host })) : null;
    },
  };
}

function settingsOf(environment: ModelEnvironment): ModelSettings {
  const { success, data, error } = ModelEnvironment.safeParse(environment);
  if (!success) {
    throw new Error(`models cannot be called: ${error.issues.map(({ message }) => message).join("; ")}`, {
      cause: error,
    });
  }
  return data;
}

function requireAccess({ OPENAI_API_KEY, OPENAI_BASE_URL }: ModelSettings): void {
  if (!OPENAI_API_KEY && !OPENAI_BASE_URL) {
    throw new ModelError(
      "unauthorized",
      `no model can be called: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own, ${whereNodesRun}, or run only locked code with \`nova run --frozen\``,
    );
  }
}
