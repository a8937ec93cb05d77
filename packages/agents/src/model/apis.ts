import type { AgentReply, RequestedCall } from "@nova/engine";
import type OpenAI from "openai";
import { zodFunction, zodResponseFormat, zodResponsesFunction } from "openai/helpers/zod";
import type {
  ChatCompletionCreateParamsNonStreaming as ChatBody,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import type {
  ResponseInputItem,
  ResponseCreateParamsNonStreaming as ResponsesBody,
} from "openai/resources/responses/responses";
import { z } from "zod";
import { supportsReasoning } from "./catalog.ts";
import { whereNodesRun } from "./model-error.ts";
import type { AgentTool, AnswerFormat, Conversation, ModelCall, Reply } from "./models.ts";
import { cacheKey, outputTokens, withoutParser } from "./models.ts";
import { CallArguments, Content, Counts, readContent, readResponse } from "./provider-answer.ts";
import { withoutThoughts } from "./read-answer.ts";

/**
 * Starts a conversation over Chat Completions. `compatible` means a server other than OpenAI's (Ollama, vLLM,
 * llama.cpp). Such servers know `max_tokens` but not OpenAI's newer fields. Some servers ignore schemas. Other servers
 * enforce them with a grammar that prevents tool calls. The instructions therefore contain the schema too, and requests
 * enforce it only when no tool may be called.
 */
export function chatConversation<T>(client: OpenAI, call: ModelCall<T>, compatible: boolean): Conversation<ChatBody> {
  const schema = answerSchema(call.answer);
  const schemaText = schema
    ? `\n\nAnswer with one JSON object that follows this schema:\n${JSON.stringify(schema.schema)}`
    : "";
  const tools = nonEmpty([
    ...(call.tools ?? []).map((tool) => withoutParser(zodFunction(tool))),
    ...(call.agentTools ?? []).map((tool) => ({ type: "function" as const, function: functionOf(tool) })),
  ]);
  const fixed = {
    model: call.model,
    ...(call.temperature === undefined ? {} : { temperature: call.temperature }),
    ...(tools ? { tools } : {}),
    ...(compatible
      ? { max_tokens: outputTokens(call) }
      : { max_completion_tokens: outputTokens(call), store: false, prompt_cache_key: cacheKey(call) }),
  };
  const messages: ChatCompletionMessageParam[] = [
    { role: "system", content: compatible ? call.instructions + schemaText : call.instructions },
    { role: "user", content: call.input },
  ];
  const conversation: Conversation<ChatBody> = {
    isHeldLater: compatible,
    wayOut: null,
    request: (mayCall) => ({
      ...fixed,
      messages: [...messages],
      ...(tools ? { tool_choice: mayCall ? ("auto" as const) : ("none" as const) } : {}),
      ...(schema && !(mayCall && compatible)
        ? { response_format: { type: "json_schema" as const, json_schema: schema } }
        : {}),
    }),
    async send(body, options) {
      const response = await client.chat.completions.create(body, options).asResponse();
      const { answer, bytes } = await readResponse(response, ChatAnswer);
      const reply = { ...chatReplyOf(answer), bytes };
      // Leaves out a message without text and calls, because servers refuse it. The model's thoughts are never sent
      // back.
      if (reply.text !== "" || reply.calls.length > 0) messages.push(messageOf(reply));
      return reply;
    },
    say(text) {
      messages.push({ role: "user", content: text });
    },
    answerCalls(results) {
      messages.push(...results.map(({ id, text }) => ({ role: "tool" as const, tool_call_id: id, content: text })));
    },
  };
  for (const { reply, results, say } of call.exchanges ?? []) {
    if (reply.text !== "" || reply.calls.length > 0) messages.push(messageOf(reply));
    conversation.answerCalls([...results]);
    if (say !== undefined) conversation.say(say);
  }
  return conversation;
}

function nonEmpty<T>(list: T[]): T[] | undefined {
  return list.length > 0 ? list : undefined;
}

function functionOf({ name, description, schema }: AgentTool) {
  return { name, description, parameters: schema, strict: isStrict(schema) };
}

function messageOf({ text, calls }: Pick<AgentReply, "text" | "calls">): ChatCompletionMessageParam {
  const tool_calls = calls.map(({ id, name, arguments: args }) => ({
    id,
    type: "function" as const,
    function: { name, arguments: args },
  }));
  return { role: "assistant", content: withoutThoughts(text), ...(tool_calls.length > 0 ? { tool_calls } : {}) };
}

const ChatCall = z.object({
  id: z.string().nullish(),
  type: z.string().nullish(),
  function: z.object({ name: z.string(), arguments: CallArguments }).optional(),
});

const Choice = z.object({
  finish_reason: z.string().nullish(),
  message: z.object({ content: Content, refusal: z.string().nullish(), tool_calls: z.array(ChatCall).nullish() }),
});

/** The fields of an answer that NOVA reads. Thoughts in a separate field (`reasoning_content`) are ignored. */
const ChatAnswer = z.object({ choices: z.array(Choice).min(1), usage: Counts });

const endings: Record<string, Reply["ending"]> = { length: "cut_off", content_filter: "filtered" };

function chatReplyOf({ choices, usage }: z.output<typeof ChatAnswer>): Omit<Reply, "bytes"> {
  const [{ message, finish_reason }] = choices as [z.output<typeof Choice>];
  const { text, refusal } = readContent(message.content);
  const details = Counts.parse(usage?.prompt_tokens_details);
  return {
    text,
    calls: (message.tool_calls ?? []).flatMap(({ id, function: made }, index) =>
      made ? [{ id: id || `call_${index}`, ...made }] : [],
    ),
    refusal: message.refusal || refusal,
    ending: endings[finish_reason ?? ""] ?? "complete",
    counted: {
      input: usage?.prompt_tokens,
      cached: details?.cached_tokens,
      cacheWrite: details?.cache_write_tokens,
      output: usage?.completion_tokens,
    },
  };
}

type AnswerSchema = { name: string; schema: Record<string, unknown>; strict: boolean };

/** Returns the JSON schema of an answer; undefined for an answer in free text. */
export function answerSchema<T>(answer: AnswerFormat<T>): AnswerSchema | undefined {
  if ("schema" in answer)
    return withoutParser(zodResponseFormat(answer.schema, answer.name)).json_schema as AnswerSchema;
  if (!("json" in answer) || answer.json === undefined) return undefined;
  return { name: answer.name ?? "answer", schema: answer.json, strict: isStrict(answer.json) };
}

/**
 * Returns true if the provider can enforce this JSON schema strictly: every object forbids other keys and requires all
 * of its own. https://developers.openai.com/api/docs/guides/structured-outputs
 */
export function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (typeof schema !== "object" || schema === null) return true;
  const { properties, required, additionalProperties, ...rest } = schema as Record<string, unknown>;
  if (properties === undefined) return rest.type !== "object" && Object.values(rest).every(isStrict);
  if (typeof properties !== "object" || properties === null || additionalProperties !== false) return false;
  const needed = new Set(Array.isArray(required) ? required : []);
  const isWhole = Object.keys(properties).every((key) => needed.has(key));
  return isWhole && Object.values(properties).every(isStrict) && Object.values(rest).every(isStrict);
}

/**
 * Starts a conversation over OpenAI's Responses API. The provider stores nothing. `compatible` means a server other
 * than OpenAI's, which may ignore schemas.
 */
export function responsesConversation<T>(
  client: OpenAI,
  call: ModelCall<T>,
  compatible: boolean,
): Conversation<ResponsesBody> {
  const input: ResponseInputItem[] = [{ role: "user", content: call.input }];
  const fixed = fixedPart(call);
  const conversation: Conversation<ResponsesBody> = {
    isHeldLater: false,
    wayOut: compatible ? `set NOVA_LLM_API=chat ${whereNodesRun} if the server ignores schemas at /responses` : null,
    request: (mayCall) => ({
      ...fixed,
      ...(fixed.tools ? { tool_choice: mayCall ? ("auto" as const) : ("none" as const) } : {}),
      input: [...input],
    }),
    async send(body, options) {
      const response = await client.responses.create(body, options).asResponse();
      const { answer, bytes } = await readResponse(response, ResponsesAnswer);
      const items = answer.output.filter(replayable);
      input.push(...(items as ResponseInputItem[]));
      return { ...responsesReplyOf(answer), items, bytes };
    },
    say(text) {
      input.push({ role: "user", content: text });
    },
    answerCalls(results) {
      const type = "function_call_output" as const;
      input.push(...results.map(({ id, text }) => ({ type, call_id: id, output: text })));
    },
  };
  for (const { reply, results, say } of call.exchanges ?? []) {
    input.push(...((reply.items ?? reply.calls.map(callItem)) as ResponseInputItem[]));
    conversation.answerCalls([...results]);
    if (say !== undefined) conversation.say(say);
  }
  return conversation;
}

/** Formats a tool call that did not come from the provider, such as a call by the code of a compiled agent. */
function callItem({ id, name, arguments: args }: RequestedCall): ResponseInputItem {
  return { type: "function_call", call_id: id, name, arguments: args };
}

function fixedPart<T>(call: ModelCall<T>) {
  const tools = nonEmpty([
    ...(call.tools ?? []).map((tool) => withoutParser(zodResponsesFunction(tool))),
    ...(call.agentTools ?? []).map((tool) => ({ type: "function" as const, ...functionOf(tool) })),
  ]);
  const schema = answerSchema(call.answer);
  return {
    model: call.model,
    instructions: call.instructions,
    ...(schema ? { text: { format: { type: "json_schema" as const, ...schema } } } : {}),
    max_output_tokens: outputTokens(call),
    store: false,
    prompt_cache_key: cacheKey(call),
    ...(call.temperature === undefined ? {} : { temperature: call.temperature }),
    ...(tools ? { tools } : {}),
    // Requests the model's thoughts before a tool call. NOVA sends them back with the result, because the provider
    // stores none.
    ...(tools && supportsReasoning(call.model) ? { include: ["reasoning.encrypted_content" as const] } : {}),
  };
}

const OutputItem = z.looseObject({ type: z.string(), encrypted_content: z.string().nullish() });
type OutputItem = z.output<typeof OutputItem>;

const Message = z.object({ type: z.literal("message"), phase: z.string().nullish().catch(null), content: Content });
const FunctionCall = z
  .object({ type: z.literal("function_call"), call_id: z.string(), name: z.string(), arguments: CallArguments })
  .transform(({ call_id: id, name, arguments: args }) => ({ id, name, arguments: args }));

/** The fields of an answer that NOVA reads. Items of other types, such as thoughts, are sent back unchanged. */
const ResponsesAnswer = z
  .object({
    status: z.string().nullish(),
    incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
    output: z.array(OutputItem),
    usage: Counts,
  })
  .transform((answer, { issues }) => ({
    ...answer,
    messages: itemsOf("message", Message, answer.output, issues),
    calls: itemsOf("function_call", FunctionCall, answer.output, issues),
  }));

function itemsOf<T>(type: string, schema: z.ZodType<T>, output: OutputItem[], issues: z.core.$ZodRawIssue[]): T[] {
  return output.flatMap((item, index) => {
    if (item.type !== type) return [];
    const { data, error } = schema.safeParse(item);
    for (const { message, path } of error?.issues ?? [])
      issues.push({ code: "custom", message, input: item, path: ["output", index, ...path] });
    return data === undefined ? [] : [data];
  });
}

/**
 * Returns true if an item may be sent back. Reasoning without content may not: with `store: false` the provider reports
 * "Item with id 'rs_...' not found".
 */
function replayable(item: OutputItem): boolean {
  return item.type !== "reasoning" || Boolean(item.encrypted_content);
}

function responsesReplyOf(answer: z.output<typeof ResponsesAnswer>): Omit<Reply, "bytes"> {
  // Messages of the phase "commentary" describe the model's work and are not part of the answer.
  const said = answer.messages.filter(({ phase }) => phase !== "commentary").map(({ content }) => readContent(content));
  const { usage } = answer;
  const details = Counts.parse(usage?.input_tokens_details);
  return {
    text: said.map(({ text }) => text).join(""),
    calls: answer.calls,
    refusal: said.find(({ refusal }) => refusal !== null)?.refusal ?? null,
    ending: endingOf(answer),
    counted: {
      input: usage?.input_tokens,
      cached: details?.cached_tokens,
      cacheWrite: details?.cache_write_tokens,
      output: usage?.output_tokens,
    },
  };
}

function endingOf({ status, incomplete_details }: z.output<typeof ResponsesAnswer>): Reply["ending"] {
  if (status !== "incomplete") return "complete";
  return incomplete_details?.reason === "content_filter" ? "filtered" : "cut_off";
}
