import type { Conversation, Reply } from "./conversation.ts";
import { addDeadline } from "./deadline.ts";
import { estimateUsd } from "./estimate.ts";
import { type Asked, explainFailure, unavailable } from "./explain-failure.ts";
import { outputTokens, timeLimitMs, toolBudget } from "./limits.ts";
import { ModelError, type ModelErrorReason } from "./model-error.ts";
import type { ModelAnswer, ModelCall } from "./models.ts";
import { readAnswer } from "./read-answer.ts";
import { requestId } from "./request-id.ts";
import { runTools } from "./run-tools.ts";
import { Spending } from "./spending.ts";

/** Talks until the model has answered: it may call tools in between, within its budget, and everything it used is summed. */
export async function askModel<T>(
  call: ModelCall<T>,
  conversation: Conversation,
  asked: Asked,
): Promise<ModelAnswer<T>> {
  const started = performance.now();
  const spending = new Spending(call.model);
  const deadline = addDeadline(call.signal, timeLimitMs(call));
  let mayCall = toolBudget(call) > 0 && (call.tools?.length ?? 0) > 0;
  // One round more than there are calls, for the answer, and one for the answer held to its schema.
  for (let round = 0; round <= toolBudget(call) + 1; round++) {
    const reply = await exchange(call, conversation, { mayCall, spending, deadline, asked });
    if (reply.calls.length > 0) {
      conversation.answerCalls(await runTools(reply.calls, call.tools ?? [], toolBudget(call), spending));
      mayCall &&= spending.toolCalls.length < toolBudget(call);
      continue;
    }
    const read = readAnswer(reply.text, call.answer.schema);
    if (read.valid) {
      const { usage, usd, text, toolCalls, priceKnown } = spending;
      const durationMs = Math.round(performance.now() - started);
      return { value: read.value, text, toolCalls, usage, costUsd: usd, priceKnown, model: call.model, durationMs };
    }
    if (!mayCall || conversation.heldToSchema) {
      throw failed(
        "invalid",
        `${subject(call)} does not follow its schema: ${read.problem} - run the node again, or name another model`,
        spending,
      );
    }
    mayCall = false;
  }
  throw failed(
    "invalid",
    `${subject(call)} never came: it went on calling tools after its ${toolBudget(call)} calls - name another model`,
    spending,
  );
}

interface Exchange {
  mayCall: boolean;
  spending: Spending;
  deadline: AbortSignal;
  asked: Asked;
}

/** One request and its reply. */
async function exchange<T>(call: ModelCall<T>, conversation: Conversation, state: Exchange): Promise<Reply> {
  const { spending } = state;
  call.signal.throwIfAborted();
  const body = conversation.request(state.mayCall);
  call.beforeRequest?.(estimateUsd(call.model, body, outputTokens(call)), spending.usd, spending.usage);
  const reply = await send(call, conversation, body, state);
  spending.add(reply.usage);
  spending.text = reply.text;
  if (reply.refusal !== null || reply.ending === "filtered") {
    const why = reply.refusal ?? "the provider's content filter stopped it";
    throw failed("refused", `${subject(call)} is a refusal (${why}) - say the task in other words`, spending);
  }
  if (reply.ending === "cut_off") {
    throw failed(
      "cut_off",
      `${subject(call)} was cut off at ${outputTokens(call)} tokens - split the task into smaller nodes`,
      spending,
    );
  }
  return reply;
}

async function send<T>(call: ModelCall<T>, conversation: Conversation, body: unknown, state: Exchange): Promise<Reply> {
  const { deadline, spending, asked } = state;
  try {
    return await conversation.send(body, { signal: deadline, headers: requestId(call.role) });
  } catch (error) {
    call.signal.throwIfAborted();
    const failure = deadline.aborted
      ? unavailable(asked, `none came within ${timeLimitMs(call) / 1000} s; run the node again, or name a faster model`)
      : explainFailure(error, asked);
    throw failure ? failed(failure.reason, failure.message, spending, error) : error;
  }
}

function subject({ role, model }: { role: string; model: string }): string {
  return `the answer of model "${model}" to the ${role}`;
}

function failed(reason: ModelErrorReason, message: string, spending: Spending, cause?: unknown): ModelError {
  return new ModelError(reason, message, spending.soFar(), { cause });
}
