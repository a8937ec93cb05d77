import type OpenAI from "openai";
import { zodFunction } from "openai/helpers/zod";
import type {
  ChatCompletionCreateParamsNonStreaming as Body,
  ChatCompletion,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import { type Conversation, cacheKey, outputTokens, type Reply, withoutParser } from "./conversation.ts";
import { ProviderFailed, whereNodesRun } from "./model-error.ts";
import type { ModelCall } from "./models.ts";
import { answerSchema } from "./strict-schema.ts";

/**
 * A call over Chat Completions. `compatible`: the server is somebody else's (Ollama, vLLM, llama.cpp). Those know
 * `max_tokens` and none of OpenAI's later fields, some ignore schemas, and where they hold an answer to one, the grammar
 * keeps the model from calling tools: the schema is told in words too, and held to only when no tool may be called.
 */
export function chatConversation<T>(client: OpenAI, call: ModelCall<T>, compatible: boolean): Conversation<Body> {
  const schema = answerSchema(call.answer);
  const told = schema
    ? `\n\nAnswer with one JSON object that follows this schema:\n${JSON.stringify(schema.schema)}`
    : "";
  const tools = call.tools?.map((tool) => withoutParser(zodFunction(tool)));
  const fixed = {
    ...{ model: call.model, ...(call.temperature === undefined ? {} : { temperature: call.temperature }) },
    ...(tools ? { tools } : {}),
    ...(compatible
      ? { max_tokens: outputTokens(call) }
      : { max_completion_tokens: outputTokens(call), store: false, prompt_cache_key: cacheKey(call) }),
  };
  const messages: ChatCompletionMessageParam[] = [
    { role: "system", content: compatible ? call.instructions + told : call.instructions },
    { role: "user", content: call.input },
  ];
  return {
    askAgain: compatible ? () => messages.push({ role: "user", content: "Answer now, as JSON." }) : null,
    request: (mayCall) => ({
      ...fixed,
      messages: [...messages],
      ...(tools ? { tool_choice: mayCall ? ("auto" as const) : ("none" as const) } : {}),
      ...(schema && !(mayCall && compatible)
        ? { response_format: { type: "json_schema" as const, json_schema: schema } }
        : {}),
    }),
    async send(body, options) {
      const reply = replyOf(await client.chat.completions.create(body, options));
      messages.push(messageOf(reply));
      return reply;
    },
    answerCalls(results) {
      messages.push(...results.map(({ id, text }) => ({ role: "tool" as const, tool_call_id: id, content: text })));
    },
  };
}

function messageOf({ text, calls }: Reply): ChatCompletionMessageParam {
  const tool_calls = calls.map(({ id, name, arguments: args }) => ({
    id,
    type: "function" as const,
    function: { name, arguments: args },
  }));
  return { role: "assistant", content: text, ...(tool_calls.length > 0 ? { tool_calls } : {}) };
}

const endings: Record<string, Reply["ending"]> = { length: "cut_off", content_filter: "filtered" };

function replyOf({ choices, usage }: ChatCompletion): Reply {
  const choice = choices?.[0];
  const problem = `what it sent is no answer of this API; see OPENAI_BASE_URL ${whereNodesRun}`;
  if (!choice) throw new ProviderFailed("no_choice", problem);
  const { message } = choice;
  return {
    text: message.content ?? "",
    calls: (message.tool_calls ?? []).flatMap((made) =>
      made.type === "function" ? [{ id: made.id, name: made.function.name, arguments: made.function.arguments }] : [],
    ),
    refusal: message.refusal ?? null,
    ending: endings[choice.finish_reason] ?? "complete",
    usage: {
      input: usage?.prompt_tokens ?? 0,
      cached: usage?.prompt_tokens_details?.cached_tokens ?? 0,
      cacheWrite: usage?.prompt_tokens_details?.cache_write_tokens ?? 0,
      output: usage?.completion_tokens ?? 0,
    },
  };
}
