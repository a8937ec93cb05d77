import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import type { Api, ModelRequest } from "./model-request.ts";
import { strictSchemaProblems } from "./strict-schema.ts";

const Role = z.enum(["input_analyzer", "data_analyzer", "code_generator", "output_validator", "text", "embedding"]);

/** Thrown if the server refuses a request, as OpenAI would. */
export class RequestRefused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

type View = Omit<ModelRequest, "api" | "role" | "headers" | "body">;

const readers: Record<string, { api: Api; read(body: unknown): View }> = {
  "/v1/responses": { api: "responses", read: (body) => responsesView(held(ResponsesBody, body)) },
  "/v1/chat/completions": { api: "chat", read: (body) => chatView(held(ChatBody, body)) },
  "/v1/embeddings": { api: "embeddings", read: (body) => embeddingsView(held(EmbeddingsBody, body)) },
};

/**
 * Converts a request to a form that does not depend on the API.
 * @throws {RequestRefused} if OpenAI refuses the request: an unknown API, unknown fields, or schemas that are not
 * strict.
 */
export function readRequest(path: string, headers: IncomingHttpHeaders, text: string): ModelRequest {
  const reader = readers[path];
  if (!reader) {
    throw new RequestRefused(404, `Invalid URL (POST ${path})`);
  }
  if (!headers.authorization) {
    throw new RequestRefused(401, "You didn't provide an API key.");
  }
  const body: unknown = JSON.parse(text);
  const role = Role.safeParse(String(headers["x-client-request-id"]).split(".")[0]);
  if (!role.success) {
    throw new RequestRefused(400, "X-Client-Request-Id does not begin with the role that asks");
  }
  const own = headers as Record<string, string>;
  return { api: reader.api, role: role.data, ...reader.read(body), headers: own, body };
}

function held<T>(schema: z.ZodType<T>, body: unknown): T {
  const result = schema.safeParse(body);
  if (!result.success) {
    throw new RequestRefused(400, z.prettifyError(result.error));
  }
  return result.data;
}

/** Refuses a request in which a tool call has no result or a result has no call. */
function requireAnswered(calls: string[], results: string[]): void {
  const unanswered = calls.find((id) => !results.includes(id));
  const uncalled = results.find((id) => !calls.includes(id));
  if (unanswered ?? uncalled) {
    throw new RequestRefused(
      400,
      unanswered ? `No tool output found for ${unanswered}` : `No tool call found for ${uncalled}`,
    );
  }
}

function responsesView(body: z.infer<typeof ResponsesBody>): View {
  const ids = (kind: string) =>
    body.input.flatMap((item) => (item.type === kind ? [String("call_id" in item && item.call_id)] : []));
  requireAnswered(ids("function_call"), ids("function_call_output"));
  return {
    model: body.model,
    instructions: body.instructions ?? "",
    input: body.input
      .flatMap((item) => ("role" in item && item.role !== "assistant" ? [String(item.content)] : []))
      .join("\n"),
    toolResults: body.input.flatMap((item) => (item.type === "function_call_output" ? [String(item.output)] : [])),
    tools: (body.tools ?? []).map(({ name }) => name),
    mayCall: body.tools !== undefined && body.tool_choice !== "none",
    answer: body.text?.format.name ?? null,
    stream: body.stream === true,
  };
}

function chatView(body: z.infer<typeof ChatBody>): View {
  const said = (...roles: string[]) =>
    body.messages.filter(({ role }) => roles.includes(role)).map(({ content }) => content ?? "");
  requireAnswered(
    body.messages
      .flatMap((message) => (message.role === "assistant" ? (message.tool_calls ?? []) : []))
      .map(({ id }) => id),
    body.messages.flatMap((message) => (message.role === "tool" ? [message.tool_call_id] : [])),
  );
  return {
    model: body.model,
    instructions: said("system", "developer").join("\n"),
    input: said("user").join("\n"),
    toolResults: said("tool"),
    tools: (body.tools ?? []).map((tool) => tool.function.name),
    mayCall: body.tools !== undefined && body.tool_choice !== "none",
    answer: body.response_format?.json_schema.name ?? null,
    stream: body.stream === true,
  };
}

function embeddingsView({ model, input }: z.infer<typeof EmbeddingsBody>): View {
  const none = { instructions: "", toolResults: [], tools: [], mayCall: false, answer: null, stream: false };
  return { model, input: input.join("\n"), ...none };
}

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
 * Returns the schema of a response format. If the format is not strict, its JSON schema may be any object, as for
 * OpenAI.
 */
function formatWith<T extends z.ZodRawShape>(type: T) {
  const named = { ...type, name: Name, description: z.string().optional() };
  return z.discriminatedUnion("strict", [
    z.strictObject({ ...named, strict: z.literal(true), schema: StrictSchema }),
    z.strictObject({ ...named, strict: z.literal(false), schema: z.record(z.string(), z.unknown()) }),
  ]);
}

const Format = formatWith({ type: z.literal("json_schema") });
/** Returns the schema of a tool. If the tool is not strict, its arguments may have any schema. */
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
const ResponsesBody = z.strictObject({
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
const ChatBody = z.strictObject({
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
const EmbeddingsBody = z.strictObject({
  ...fields("dimensions", "user"),
  model: Model,
  input: z.array(z.string().min(1)).min(1).max(2048),
  encoding_format: z.literal("float").optional(),
});
