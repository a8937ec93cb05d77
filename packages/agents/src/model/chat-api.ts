import type OpenAI from "openai";
import { zodFunction, zodResponseFormat } from "openai/helpers/zod";
import type {
  ChatCompletionCreateParamsNonStreaming as Body,
  ChatCompletion,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import type { Conversation, Reply } from "./conversation.ts";
import { outputTokens } from "./limits.ts";
import type { ModelCall } from "./models.ts";
import { ProviderFailed } from "./provider-failed.ts";

/**
 * A call over Chat Completions. `compatible`: the server is somebody else's (Ollama, vLLM, llama.cpp). Those know
 * `max_tokens` and no fields of OpenAI's own, and where they hold an answer to a schema the model cannot call tools.
 */
export function chatConversation<T>(client: OpenAI, call: ModelCall<T>, compatible: boolean): Conversation<Body> {
  const messages: ChatCompletionMessageParam[] = [
    { role: "system", content: call.instructions },
    { role: "user", content: call.input },
  ];
  const tools = call.tools?.map((tool) => plain(zodFunction(tool)));
  const response_format = plain(zodResponseFormat(call.answer.schema, call.answer.name));
  const limit = outputTokens(call);
  return {
    heldToSchema: !compatible,
    request: (mayCall) => ({
      model: call.model,
      messages: [...messages],
      ...(compatible ? { max_tokens: limit } : { max_completion_tokens: limit }),
      ...(tools ? { tools, tool_choice: mayCall ? ("auto" as const) : ("none" as const) } : {}),
      ...(mayCall && compatible ? {} : { response_format }),
    }),
    async send(body, options) {
      const completion = await client.chat.completions.create(body, options);
      const reply = replyOf(completion);
      messages.push(messageOf(reply));
      return reply;
    },
    answerCalls(results) {
      messages.push(...results.map(({ id, text }) => ({ role: "tool" as const, tool_call_id: id, content: text })));
    },
  };
}

/** The SDK hangs its parsers on what it makes; the answer is read here, so that a bad one keeps its cost. */
function plain<F extends object>(format: F): F {
  return JSON.parse(JSON.stringify(format));
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
  if (!choice) {
    throw new ProviderFailed("no_choice", "the answer has no choices");
  }
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
