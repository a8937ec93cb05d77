import { z } from "zod";
import { defined } from "../defined.ts";
import { at, type Finding, finding, type WrittenPlace } from "../findings/finding.ts";
import { isObject, type Loose, type WrittenJson } from "../json/exact.ts";
import { defaultMaxChars } from "../references/render.ts";
import type { ModelChoice, TextExecutor } from "../workflow.ts";
import { checkAnswerSchema, checkOutOfPlace, checkOwnKey, type FieldPlace } from "./field-check.ts";
import { contextKey, filledText, jsonSchema, numberBetween } from "./fields.ts";

/** A model with its settings, in the format of front ends that build chains of prompts. */
export const LlmConfig = z.strictObject(
  {
    provider: z
      .literal("openai", { error: 'must be "openai": other servers that speak its API are named by OPENAI_BASE_URL' })
      .describe("The provider of the model.")
      .optional(),
    model: filledText("Id of the model.").optional(),
    temperature: numberBetween("any", 0, 2).describe("Models that reason refuse it.").optional(),
    max_tokens: numberBetween("whole", 16, 128_000).describe("Limit of the answer, reasoning included.").optional(),
  },
  { error: 'must be an object such as { "model": "gpt-6.1-terra", "temperature": 0.2, "max_tokens": 2000 }' },
);
export type LlmConfig = z.output<typeof LlmConfig>;

export const textFields = {
  system: filledText("For the executor `text`: the system prompt; references in it are replaced, too.").optional(),
  llm_config: LlmConfig.describe(
    "For the executor `text`, instead of `model`: `{provider, model, temperature, max_tokens}`.",
  ).optional(),
  output_schema: jsonSchema(
    "For the executor `text`: JSON schema of the answer, which is an object then. An answer that does not fit is asked for once more.",
  ).optional(),
  into: contextKey("For the executor `text`: key of the answer in the context. Absent: the node's id.").optional(),
  max_chars: numberBetween("whole", 1, 1_000_000)
    .describe(
      `For the executor \`text\`: the most characters of one inserted value; a longer one is cut, and says so. Default ${defaultMaxChars}.`,
    )
    .optional(),
  on_missing: z
    .enum(["fail", "mark"], { error: 'must be "fail" or "mark", or be left out' })
    .describe(
      "For the executor `text`: the effect of a reference without a value. Absent or `fail`: the node fails and names it. `mark`: the prompt says `[CONTEXT_ERROR: ...]` in its place.",
    )
    .optional(),
};

export const textFieldNames = Object.keys(textFields);

type Written = { id: string; model?: ModelChoice | LlmConfig | undefined } & {
  [Name in keyof typeof textFields]?: z.output<(typeof textFields)[Name]>;
};

export function textExecutor(
  { id, model: written, llm_config, system, into, max_chars, on_missing }: Written,
  source: { prompt: string; file?: string; outputSchema?: WrittenJson },
  maxCostUsd: number | undefined,
): TextExecutor {
  const { model, temperature, max_tokens } = llm_config ?? configOf(written);
  return defined({
    kind: "text" as const,
    prompt: source.prompt,
    file: source.file,
    system,
    model,
    temperature,
    maxTokens: max_tokens,
    maxCostUsd,
    maxChars: max_chars,
    outputSchema: source.outputSchema,
    into: into ?? id,
    onMissing: on_missing === "mark" ? on_missing : undefined,
  });
}

function configOf(model: ModelChoice | LlmConfig = {}): LlmConfig {
  return isConfig(model) ? model : defined({ model: model.text ?? model.default });
}

export function isConfig(model: object): model is LlmConfig {
  return ["provider", "model", "temperature", "max_tokens"].some((name) => Object.hasOwn(model, name));
}

export function* checkText(node: Loose, place: FieldPlace): Iterable<Finding> {
  const wayOut = "is for nodes that run code, and a text node only asks a model - remove it";
  yield* checkOutOfPlace("NOVA421", ["effects", "credentials", "isolation", "network", "ai"], wayOut, [node, place]);
  yield* checkModel(node, place);
  yield* checkAnswer(node, place);
  yield* checkOwnKey(node, place);
}

export function* checkNoText(node: Loose, place: FieldPlace): Iterable<Finding> {
  const wayOut = 'is for text nodes, and would do nothing here - remove it, or add "executor": "text"';
  yield* checkOutOfPlace("NOVA421", textFieldNames, wayOut, [node, place]);
  if (!isObject(node.model) || !isConfig(node.model)) return;
  const message = `${place.name}: model has settings that only text nodes take - write the id of the model, or ids by role`;
  yield finding("NOVA440", at(place.path, "model"), message);
}

function* checkModel({ model, llm_config }: Loose, { name, path }: WrittenPlace): Iterable<Finding> {
  if (model !== undefined && llm_config !== undefined) {
    const message = `${name} has both model and llm_config - keep one of them`;
    yield finding("NOVA440", at(path, "llm_config"), message);
  }
  if (!isObject(model) || isConfig(model) || model.text !== undefined) return;
  const message = `${name}: model names only roles of code-writing nodes - write its id, such as "gpt-6.1-terra"`;
  yield finding("NOVA440", at(path, "model"), message);
}

function* checkAnswer(node: Loose, { name, path, exactly }: FieldPlace): Iterable<Finding> {
  const { output_schema: schema, type } = node;
  if (!isObject(schema)) return;
  const place = at(path, "output_schema");
  if (typeof type === "string" && type.toLowerCase().startsWith("decision")) {
    const message = `${name}: output_schema does nothing at a decision, whose answer is one of its edges - remove it`;
    yield finding("NOVA441", place, message);
  } else if (schema.type !== "object") {
    const message = `${name}: output_schema must have "type": "object" - put other values into a property`;
    yield finding("NOVA441", place, message);
  }
  yield* checkAnswerSchema("NOVA441", exactly(place), `${name}: output_schema`, place);
}
