import type { IncomingHttpHeaders } from "node:http";
import { z } from "zod";
import type { Api, ModelRequest } from "./model-request.ts";
import { ChatBody, EmbeddingsBody, ResponsesBody } from "./request-bodies.ts";

const Role = z.enum(["input_analyzer", "data_analyzer", "code_generator", "output_validator", "text", "embedding"]);

/** The server refuses a request, as OpenAI would. */
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
