import { z } from "zod";

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
export type ModelSettings = z.output<typeof ModelEnvironment>;
