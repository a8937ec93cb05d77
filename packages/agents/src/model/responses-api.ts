import type OpenAI from "openai";
import { zodResponsesFunction } from "openai/helpers/zod";
import type { ResponseCreateParamsNonStreaming as Body, ResponseInputItem } from "openai/resources/responses/responses";
import { z } from "zod";
import { supportsReasoning } from "./catalog.ts";
import { type Conversation, cacheKey, outputTokens, type Reply, withoutParser } from "./conversation.ts";
import { whereNodesRun } from "./model-error.ts";
import type { ModelCall } from "./models.ts";
import { CallArguments, Content, Counts, readContent, readResponse } from "./provider-answer.ts";
import { answerSchema } from "./strict-schema.ts";

/**
 * Starts a conversation over OpenAI's Responses API. The provider stores nothing. `compatible` means a server other
 * than OpenAI's, which may ignore schemas.
 */
export function responsesConversation<T>(client: OpenAI, call: ModelCall<T>, compatible: boolean): Conversation<Body> {
  const input: ResponseInputItem[] = [{ role: "user", content: call.input }];
  const fixed = fixedPart(call);
  return {
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
      input.push(...(answer.output.filter(replayable) as ResponseInputItem[]));
      return { ...replyOf(answer), bytes };
    },
    say(text) {
      input.push({ role: "user", content: text });
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
    // The model's thoughts before a tool call are sent back with the result, because the provider stores none.
    ...(tools && supportsReasoning(call.model) ? { include: ["reasoning.encrypted_content" as const] } : {}),
  };
}

const Item = z.looseObject({ type: z.string(), encrypted_content: z.string().nullish() });
type Item = z.output<typeof Item>;

const Message = z.object({ type: z.literal("message"), phase: z.string().nullish().catch(null), content: Content });
const Call = z
  .object({ type: z.literal("function_call"), call_id: z.string(), name: z.string(), arguments: CallArguments })
  .transform(({ call_id: id, name, arguments: args }) => ({ id, name, arguments: args }));

/** The used fields of an answer. Items of other types, such as thoughts, are sent back unchanged. */
const ResponsesAnswer = z
  .object({
    status: z.string().nullish(),
    incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
    output: z.array(Item),
    usage: Counts,
  })
  .transform((answer, { issues }) => ({
    ...answer,
    messages: itemsOf("message", Message, answer.output, issues),
    calls: itemsOf("function_call", Call, answer.output, issues),
  }));

function itemsOf<T>(type: string, schema: z.ZodType<T>, output: Item[], issues: z.core.$ZodRawIssue[]): T[] {
  return output.flatMap((item, index) => {
    if (item.type !== type) return [];
    const { data, error } = schema.safeParse(item);
    for (const { message, path } of error?.issues ?? [])
      issues.push({ code: "custom", message, input: item, path: ["output", index, ...path] });
    return data === undefined ? [] : [data];
  });
}

/** False for reasoning without content: with `store: false` the provider reports "Item with id 'rs_...' not found". */
function replayable(item: Item): boolean {
  return item.type !== "reasoning" || Boolean(item.encrypted_content);
}

function replyOf(answer: z.output<typeof ResponsesAnswer>): Omit<Reply, "bytes"> {
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
