import { z } from "zod";
import { strictSchemaProblems } from "./strict-schema.ts";

/** Returns schemas for optional fields with any value: OpenAI knows these fields, but NOVA does not use them. */
function fields<const Names extends string[]>(...names: Names): Record<Names[number], z.ZodOptional<z.ZodUnknown>> {
  return Object.fromEntries(names.map((name) => [name, z.unknown().optional()])) as never;
}

const StrictSchema = z.record(z.string(), z.unknown()).superRefine((schema, context) => {
  for (const problem of strictSchemaProblems(schema)) {
    context.addIssue({ code: "custom", message: problem });
  }
});
const Name = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);
const Model = z.string().min(1);
const ToolChoice = z.enum(["auto", "none", "required"]).optional();
const Tokens = z.number().int().min(16);

/**
 * Returns the schema of a response format. It accepts only strict formats, because a model may ignore any other format.
 */
function formatWith<T extends z.ZodRawShape>(type: T) {
  const named = { ...type, name: Name, description: z.string().optional() };
  return z.discriminatedUnion("strict", [
    z.strictObject({ ...named, strict: z.literal(true), schema: StrictSchema }),
    z.strictObject({ ...named, strict: z.literal(false), schema: z.record(z.string(), z.unknown()) }),
  ]);
}

const Format = formatWith({ type: z.literal("json_schema") });
/** Returns the schema of a tool. The schema of the arguments may be any one if the tool is not strict. */
function toolWith<T extends z.ZodRawShape>(type: T) {
  const named = { ...type, name: Name, description: z.string().optional() };
  return z.discriminatedUnion("strict", [
    z.strictObject({ ...named, strict: z.literal(true), parameters: StrictSchema }),
    z.strictObject({ ...named, strict: z.literal(false), parameters: z.record(z.string(), z.unknown()) }),
  ]);
}

const InputItem = z.union([
  z.strictObject({ type: z.literal("message").optional(), role: z.enum(["user", "developer"]), content: z.string() }),
  z.looseObject({ type: z.literal("message"), role: z.literal("assistant"), content: z.array(z.unknown()) }),
  z.looseObject({ type: z.literal("reasoning"), encrypted_content: z.string().min(1) }),
  z.looseObject({ type: z.literal("function_call"), call_id: z.string(), name: Name, arguments: z.string() }),
  z.strictObject({ type: z.literal("function_call_output"), call_id: z.string(), output: z.string() }),
]);

/** The body of `POST /responses`. The check is as strict as that of OpenAI. */
export const ResponsesBody = z.strictObject({
  ...fields("background", "context_management", "conversation", "max_tool_calls", "metadata", "parallel_tool_calls"),
  ...fields(
    "previous_response_id",
    "prompt",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
  ),
  ...fields("stream_options", "temperature", "top_logprobs", "top_p", "truncation"),
  model: Model,
  instructions: z.string().optional(),
  input: z.array(InputItem).min(1),
  text: z.strictObject({ format: Format, verbosity: z.string().optional() }).optional(),
  tools: z
    .array(toolWith({ type: z.literal("function") }))
    .min(1)
    .optional(),
  tool_choice: ToolChoice,
  max_output_tokens: Tokens.optional(),
  include: z.array(z.literal("reasoning.encrypted_content")).optional(),
  prompt_cache_key: z.string().max(64).optional(),
  store: z.literal(false, "store is not false: prompts would stay at the provider"),
  stream: z.boolean().optional(),
});

const CallMade = z.strictObject({
  id: z.string(),
  type: z.literal("function"),
  function: z.strictObject({ name: Name, arguments: z.string() }),
});
const Message = z.discriminatedUnion("role", [
  z.strictObject({ role: z.enum(["system", "developer", "user"]), content: z.string() }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z.string().nullable().optional(),
    tool_calls: z.array(CallMade).min(1).optional(),
  }),
  z.strictObject({ role: z.literal("tool"), tool_call_id: z.string(), content: z.string() }),
]);

/** The body of `POST /chat/completions`. The check is as strict as that of OpenAI. */
export const ChatBody = z.strictObject({
  ...fields(
    "frequency_penalty",
    "logprobs",
    "metadata",
    "n",
    "parallel_tool_calls",
    "presence_penalty",
    "prompt_cache_key",
  ),
  ...fields("reasoning_effort", "safety_identifier", "seed", "service_tier", "stop", "store", "stream_options"),
  ...fields("temperature", "top_logprobs", "top_p", "verbosity"),
  model: Model,
  messages: z.array(Message).min(1),
  response_format: z.strictObject({ type: z.literal("json_schema"), json_schema: formatWith({}) }).optional(),
  tools: z
    .array(z.strictObject({ type: z.literal("function"), function: toolWith({}) }))
    .min(1)
    .optional(),
  tool_choice: ToolChoice,
  max_tokens: Tokens.optional(),
  max_completion_tokens: Tokens.optional(),
  stream: z.boolean().optional(),
});

/** Body of `POST /embeddings`. */
export const EmbeddingsBody = z.strictObject({
  ...fields("dimensions", "user"),
  model: Model,
  input: z.array(z.string().min(1)).min(1).max(2048),
  encoding_format: z.literal("float").optional(),
});
