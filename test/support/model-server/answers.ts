import type { ModelRequest } from "./model-request.ts";
import type { Said, ScriptedCall, ScriptedUsage } from "./script.ts";

type Answered = Said & { usage?: ScriptedUsage };

/** Returns the body of an answer with status 200, in the format of the request's API. */
export function answerBody(request: ModelRequest, said: Answered, id: string): Record<string, unknown> {
  switch (request.api) {
    case "responses":
      return responsesAnswer(request, said, id);
    case "chat":
      return chatAnswer(request, said, id);
    case "embeddings":
      return embeddingsAnswer(request, said);
  }
}

function counted({ usage }: Answered): Required<ScriptedUsage> {
  return { input: 1000, cached: 0, cacheWrite: 0, output: 100, ...usage };
}

/** Returns the text of the answer; undefined if it has none. */
function textOf(said: Said): string | undefined {
  if ("json" in said) {
    return JSON.stringify(said.json);
  }
  return "cutOff" in said ? said.cutOff : "filtered" in said ? said.filtered : "text" in said ? said.text : undefined;
}

function argumentsOf({ arguments: args }: ScriptedCall): string {
  return typeof args === "string" ? args : JSON.stringify(args);
}

function responsesAnswer(request: ModelRequest, said: Answered, id: string) {
  const { input, cached, cacheWrite, output } = counted(said);
  const stopped = "cutOff" in said ? "max_output_tokens" : "filtered" in said ? "content_filter" : null;
  const failed = "failed" in said ? said.failed : null;
  return {
    id: `resp_${id}`,
    object: "response",
    created_at: 0,
    status: failed ? "failed" : stopped ? "incomplete" : "completed",
    error: failed,
    incomplete_details: stopped ? { reason: stopped } : null,
    model: request.model,
    output: failed ? [] : outputItems(said, id, (request.body as { include?: unknown }).include !== undefined),
    parallel_tool_calls: true,
    store: false,
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWrite },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input + output,
    },
  };
}

/**
 * Returns the output items of an answer. With `sealed`, a reasoning item has encrypted contents. Without `sealed`, the
 * item has only an id, which the server does not know in later requests.
 */
function outputItems(said: Answered, id: string, sealed: boolean): Record<string, unknown>[] {
  const calls = "calls" in said ? said.calls : [];
  const text = textOf(said);
  const part =
    "refusal" in said
      ? { type: "refusal", refusal: said.refusal }
      : { type: "output_text", text: text ?? "", annotations: [], logprobs: [] };
  const message = { type: "message", id: `msg_${id}`, status: "completed", role: "assistant", content: [part] };
  return [
    ...(calls.length > 0
      ? [{ type: "reasoning", id: `rs_${id}`, summary: [], ...(sealed ? { encrypted_content: `sealed-${id}` } : {}) }]
      : []),
    ...(text !== undefined || "refusal" in said ? [message] : []),
    ...calls.map((call, index) => ({
      type: "function_call",
      id: `fc_${id}_${index}`,
      call_id: `call_${id}_${index}`,
      name: call.name,
      arguments: argumentsOf(call),
      status: "completed",
    })),
  ];
}

function chatAnswer(request: ModelRequest, said: Answered, id: string) {
  const { input, cached, cacheWrite, output } = counted(said);
  const calls = "calls" in said ? said.calls : [];
  const tool_calls = calls.map((call, index) => ({
    id: `call_${id}_${index}`,
    type: "function",
    function: { name: call.name, arguments: argumentsOf(call) },
  }));
  const refusal = "refusal" in said ? said.refusal : null;
  const message = {
    role: "assistant",
    content: textOf(said) ?? null,
    refusal,
    ...(calls.length > 0 ? { tool_calls } : {}),
  };
  const finish_reason =
    "cutOff" in said ? "length" : "filtered" in said ? "content_filter" : calls.length > 0 ? "tool_calls" : "stop";
  return {
    id: `chatcmpl-${id}`,
    object: "chat.completion",
    created: 0,
    model: request.model,
    choices: [{ index: 0, message, finish_reason, logprobs: null }],
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWrite },
    },
  };
}

/** Builds an answer whose vectors are in reverse order, so that a client must use their index. */
function embeddingsAnswer({ model }: ModelRequest, said: Answered) {
  const vectors = "vectors" in said ? said.vectors : [];
  const data = vectors.map((embedding, index) => ({ object: "embedding", index, embedding })).reverse();
  return { object: "list", data, model, usage: { prompt_tokens: 10, total_tokens: 10 } };
}
