import type OpenAI from "openai";
import { zodResponsesFunction } from "openai/helpers/zod";
import type {
  ResponseCreateParamsNonStreaming as Body,
  Response,
  ResponseInputItem,
  ResponseOutputItem,
} from "openai/resources/responses/responses";
import { reasons } from "./catalog.ts";
import { type Conversation, cacheKey, outputTokens, type Reply, withoutParser } from "./conversation.ts";
import { ProviderFailed } from "./model-error.ts";
import type { ModelCall } from "./models.ts";
import { answerSchema } from "./strict-schema.ts";

/** A call over OpenAI's Responses API, with nothing stored at the provider. */
export function responsesConversation<T>(client: OpenAI, call: ModelCall<T>): Conversation<Body> {
  const input: ResponseInputItem[] = [{ role: "user", content: call.input }];
  const fixed = fixedPart(call);
  return {
    askAgain: null,
    request: (mayCall) => ({
      ...fixed,
      ...(fixed.tools ? { tool_choice: mayCall ? ("auto" as const) : ("none" as const) } : {}),
      input: [...input],
    }),
    async send(body, options) {
      const response = await client.responses.create(body, options);
      const reply = replyOf(response);
      input.push(...response.output.filter(replayable));
      return reply;
    },
    answerCalls(results) {
      const type = "function_call_output" as const;
      input.push(...results.map(({ id, text }) => ({ type, call_id: id, output: text })));
    },
  };
}

function fixedPart<T>(call: ModelCall<T>) {
  const tools = call.tools?.map((tool) => withoutParser(zodResponsesFunction(tool)));
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
    // What the model thought before it called a tool goes back with the result; the provider keeps none of it.
    ...(tools && reasons(call.model) ? { include: ["reasoning.encrypted_content" as const] } : {}),
  };
}

/** With `store: false` an item that only has an id cannot be found again: "Item with id 'rs_...' not found". */
function replayable(item: ResponseOutputItem): item is ResponseOutputItem & ResponseInputItem {
  return item.type !== "reasoning" || Boolean(item.encrypted_content);
}

function replyOf(response: Response): Reply {
  const { error } = response;
  if (response.status === "failed")
    throw new ProviderFailed(error?.code ?? "failed", error?.message ?? "the provider gives no reason");
  const contents = response.output.flatMap((item) => (item.type === "message" ? item.content : []));
  const refused = contents.find((part) => part.type === "refusal");
  const usage = response.usage;
  return {
    text: contents.map((part) => (part.type === "output_text" ? part.text : "")).join(""),
    calls: response.output.flatMap((item) =>
      item.type === "function_call" ? [{ id: item.call_id, name: item.name, arguments: item.arguments }] : [],
    ),
    refusal: refused ? refused.refusal : null,
    ending: endingOf(response),
    usage: {
      input: usage?.input_tokens ?? 0,
      cached: usage?.input_tokens_details?.cached_tokens ?? 0,
      cacheWrite: usage?.input_tokens_details?.cache_write_tokens ?? 0,
      output: usage?.output_tokens ?? 0,
    },
  };
}

function endingOf({ status, incomplete_details }: Response): Reply["ending"] {
  if (status !== "incomplete") return "complete";
  return incomplete_details?.reason === "content_filter" ? "filtered" : "cut_off";
}
