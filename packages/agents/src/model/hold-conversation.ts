import type { RequestedCall, ToolCall } from "@nova/engine";
import { addUsage, costOf, estimateUsd, noUsage, type RequestUsage, readUsage, roundUsd, type Usage } from "./cost.ts";
import { type CallTarget, explainFailure, unavailable } from "./explain-failure.ts";
import { ModelError, type ModelErrorReason, type Spent } from "./model-error.ts";
import type { Conversation, ModelAnswer, ModelCall, Reply, Tool } from "./models.ts";
import { outputTokens, requestId, timeLimitMs } from "./models.ts";
import { type ReadFailure, readAnswer, withoutThoughts } from "./read-answer.ts";

const defaultToolCalls = 5;

interface ConversationState<T> {
  call: ModelCall<T>;
  conversation: Conversation;
  asked: CallTarget;
  /** Aborts with the caller's signal, or when the time of the call is over. */
  signal: AbortSignal;
  spending: Spending;
}

/** Sends requests until the model has answered, runs its tool calls within the budget, and sums up all costs. */
export async function holdConversation<T>(
  call: ModelCall<T>,
  conversation: Conversation,
  asked: CallTarget,
): Promise<ModelAnswer<T>> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeLimitMs(call));
  const signal = AbortSignal.any([call.signal, late.signal]);
  const spending = new Spending(call.model);
  try {
    const value = await converse({ call, conversation, asked, signal, spending });
    return { value, ...spending.soFar() };
  } finally {
    clearTimeout(timer);
  }
}

async function converse<T>(talk: ConversationState<T>): Promise<T> {
  const { call, conversation, spending } = talk;
  const { answer, tools = [], agentTools = [], maxToolCalls: budget = defaultToolCalls } = call;
  let mayCall = budget > 0 && tools.length + agentTools.length > 0;
  let [mayRepeat, rounds] = [true, 0];
  for (;;) {
    const reply = await exchange(talk, mayCall);
    if ("whole" in answer) return answer.whole(reply);
    if (reply.calls.length > 0) {
      const isUnoffered = !mayCall || reply.calls.every(({ name }) => !tools.some((tool) => tool.name === name));
      if (isUnoffered && !mayRepeat) throw failed(talk, "unclear", toolProblem(mayCall, call.tools && budget));
      mayRepeat &&= !isUnoffered;
      conversation.answerCalls(await runTools(reply.calls, tools, budget, spending));
      mayCall &&= spending.toolCalls.length < budget && ++rounds < budget;
      continue;
    }
    const said = withoutThoughts(reply.text);
    const read = "schema" in answer ? readAnswer(said, answer.schema) : await answer.read(said);
    if (read.valid) return read.value;
    // A second request helps after an unclear answer, or if the server has not enforced the schema yet.
    const mayAskAgain = (mayCall && conversation.isHeldLater) || (read.isUnclear && !call.isAskedOnce);
    if (!mayRepeat || !mayAskAgain) throw unusableError(talk, read);
    conversation.say(
      read.isUnclear ? `Your answer cannot be used: ${read.problem}. Answer again.` : "Answer now, as JSON.",
    );
    mayCall = mayRepeat = false;
  }
}

function unusableError<T>(talk: ConversationState<T>, { problem, isUnclear }: ReadFailure): ModelError {
  const { call, conversation, spending } = talk;
  const isOfSchema = "name" in call.answer && !isUnclear;
  const advice = `${isOfSchema && conversation.wayOut ? `${conversation.wayOut}, or ` : ""}name another model`;
  const what = isOfSchema ? "does not follow its schema" : "cannot be used";
  const message = `${answerOf(call)} ${what}: ${problem} - ${advice}`;
  const reason = isUnclear && !call.isAskedOnce ? "unclear" : "invalid";
  return new ModelError(reason, message, spending.soFar(), { unusable: { problem, advice } });
}

function toolProblem(mayCall: boolean, budget: number | undefined): string {
  const isOverBudget = !mayCall && budget !== undefined;
  const what = isOverBudget
    ? `it went on calling tools after its ${budget} calls`
    : "it calls tools that nobody offers";
  return `never came: ${what} - name another model`;
}

async function exchange<T>(talk: ConversationState<T>, mayCall: boolean): Promise<Reply> {
  const { call, conversation, spending } = talk;
  call.signal.throwIfAborted();
  const body = conversation.request(mayCall);
  const sentBytes = Buffer.byteLength(JSON.stringify(body));
  call.beforeRequest?.(estimateUsd(call.model, sentBytes, outputTokens(call)), spending.usd, spending.usage);
  const reply = await send(talk, body);
  const isAnswered = reply.text !== "" || reply.calls.length > 0 || reply.refusal !== null;
  const exchanged = { sentBytes, receivedBytes: reply.bytes, isAnswered, maxOutputTokens: outputTokens(call) };
  spending.add(readUsage(reply.counted, exchanged));
  spending.text = reply.text || (reply.refusal ?? "");
  if (reply.refusal !== null || reply.ending === "filtered") {
    const why = reply.refusal ?? "the provider's content filter stopped it";
    throw failed(talk, "refused", `is a refusal (${why}) - say the task in other words`);
  }
  // llama.cpp reports a response as complete even if the response ended at its token limit.
  if (reply.ending === "cut_off" || reply.counted.output === outputTokens(call)) {
    const wayOut = `${call.maxOutputTokens === undefined ? "" : "raise max_tokens, or "}split the task into smaller nodes`;
    throw failed(talk, "cut_off", `was cut off at ${outputTokens(call)} tokens - ${wayOut}`);
  }
  return reply;
}

async function send<T>({ call, conversation, signal, asked, spending }: ConversationState<T>, body: unknown) {
  try {
    const timeout = call.longestMs === undefined ? {} : { timeout: timeLimitMs(call) };
    return await conversation.send(body, { signal, headers: requestId(call.role), ...timeout });
  } catch (cause) {
    call.signal.throwIfAborted();
    const { reason, message } = signal.aborted
      ? unavailable(asked, `none came within ${timeLimitMs(call) / 1000} s; try again, or name a faster model`)
      : explainFailure(cause, asked);
    throw new ModelError(reason, message, spending.soFar(), { cause });
  }
}

function failed<T>({ call, spending }: ConversationState<T>, reason: ModelErrorReason, what: string): ModelError {
  return new ModelError(reason, `${answerOf(call)} ${what}`, spending.soFar());
}

function answerOf<T>({ model, role }: ModelCall<T>): string {
  return `the answer of model "${model}" to the ${role}`;
}

export class Spending {
  usage: Usage = noUsage;
  usd = 0;
  text = "";
  isEstimated = false;
  readonly toolCalls: ToolCall[] = [];
  readonly #model: string;

  constructor(model: string) {
    this.#model = model;
  }

  add({ isEstimated = false, ...usage }: RequestUsage & { isEstimated?: boolean }): void {
    this.isEstimated ||= isEstimated;
    this.usage = addUsage(this.usage, usage);
    this.usd = roundUsd(this.usd + costOf(this.#model, usage));
  }

  soFar(): Spent {
    const { usage, usd: costUsd, text, isEstimated, toolCalls } = this;
    return { usage, costUsd, text, isEstimated, toolCalls };
  }
}

/**
 * Runs the requested tools in order. If a call is invalid, its result tells the model why, so that the model can
 * correct it.
 */
async function runTools(calls: RequestedCall[], tools: Tool[], budget: number, spending: Spending) {
  const results: { id: string; text: string }[] = [];
  for (const call of calls) {
    const spent = spending.toolCalls.length >= budget;
    results.push({ id: call.id, text: spent ? "No more calls: answer now." : await runTool(call, tools, spending) });
  }
  return results;
}

async function runTool(call: RequestedCall, tools: Tool[], { toolCalls }: Spending): Promise<string> {
  const tool = tools.find(({ name }) => name === call.name);
  if (tools.length === 0) return "There are no tools: answer now.";
  if (!tool) return `There is no tool "${call.name}"; there are: ${tools.map(({ name }) => name).join(", ")}.`;
  const args = readAnswer(withoutThoughts(call.arguments), tool.parameters);
  if (!args.valid) return `The arguments do not fit: ${args.problem}`;
  const { text, found } = await tool.run(args.value);
  toolCalls.push({ function: call.name, arguments: args.value as Record<string, unknown>, found });
  return text;
}
