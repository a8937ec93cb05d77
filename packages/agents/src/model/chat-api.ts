import type OpenAI from "openai";
import { zodFunction } from "openai/helpers/zod";
import type {
  ChatCompletionCreateParamsNonStreaming as Body,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import { z } from "zod";
import { type Conversation, cacheKey, outputTokens, type Reply, withoutParser } from "./conversation.ts";
import type { ModelCall } from "./models.ts";
import { CallArguments, Content, Counts, readContent, readResponse } from "./provider-answer.ts";
import { answerSchema } from "./strict-schema.ts";
import { withoutThoughts } from "./thoughts.ts";

/**
 * Starts a conversation over Chat Completions. `compatible` means a server other than OpenAI's (Ollama, vLLM,
 * llama.cpp). Such servers know `max_tokens` but not OpenAI's newer fields. Some ignore schemas; others enforce them
 * with a grammar that prevents tool calls. The instructions therefore contain the schema too, and requests enforce it
 * only when no tool may be called.
 */
export function chatConversation<T>(client: OpenAI, call: ModelCall<T>, compatible: boolean): Conversation<Body> {
  const schema = answerSchema(call.answer);
  const schemaText = schema
    ? `\n\nAnswer with one JSON object that follows this schema:\n${JSON.stringify(schema.schema)}`
    : "";
  const tools = call.tools?.map((tool) => withoutParser(zodFunction(tool)));
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
  return {
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
      const reply = { ...replyOf(answer), bytes };
      // Servers refuse messages without content. Earlier thoughts are not sent back to the model.
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
}

function messageOf({ text, calls }: Reply): ChatCompletionMessageParam {
  const tool_calls = calls.map(({ id, name, arguments: args }) => ({
    id,
    type: "function" as const,
    function: { name, arguments: args },
  }));
  return { role: "assistant", content: withoutThoughts(text), ...(tool_calls.length > 0 ? { tool_calls } : {}) };
}

const Call = z.object({
  id: z.string().nullish(),
  type: z.string().nullish(),
  function: z.object({ name: z.string(), arguments: CallArguments }).optional(),
});

const Choice = z.object({
  finish_reason: z.string().nullish(),
  message: z.object({ content: Content, refusal: z.string().nullish(), tool_calls: z.array(Call).nullish() }),
});

/** The used fields of an answer. Thoughts in a separate field (`reasoning_content`) are ignored. */
const ChatAnswer = z.object({ choices: z.array(Choice).min(1), usage: Counts });

const endings: Record<string, Reply["ending"]> = { length: "cut_off", content_filter: "filtered" };

function replyOf({ choices, usage }: z.output<typeof ChatAnswer>): Omit<Reply, "bytes"> {
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
