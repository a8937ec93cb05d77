import { z } from "zod";

/** An empty variable is an absent one. */
const Variable = z
  .string()
  .optional()
  .transform((value) => value?.trim() || undefined);

/** The variables of the models, as they stand in `process.env`. */
export const ModelEnvironment = z.object({
  OPENAI_API_KEY: Variable,
  /** A compatible server, such as `http://127.0.0.1:11434/v1`. */
  OPENAI_BASE_URL: Variable,
  /** `chat`: Chat Completions, for servers without the Responses API. */
  NOVA_LLM_API: Variable.pipe(
    z.enum(["responses", "chat"], 'NOVA_LLM_API is neither "responses" nor "chat"').default("responses"),
  ),
  /** Of roles for which neither node nor workflow names one. */
  DEFAULT_MODEL: Variable,
  /** Without it nothing is embedded. */
  NOVA_EMBEDDING_MODEL: Variable,
});

export type ModelEnvironment = z.input<typeof ModelEnvironment>;
export type ModelSettings = z.output<typeof ModelEnvironment>;
