import type { ToolCall } from "@nova/engine";
import {
  type Conversation,
  outputTokens,
  type Reply,
  type RequestedCall,
  requestId,
  timeLimitMs,
} from "./conversation.ts";
import { addUsage, costOf, estimateUsd, noUsage, type RequestUsage, roundUsd, type Usage } from "./cost.ts";
import { type Asked, explainFailure, unavailable } from "./explain-failure.ts";
import { ModelError, type ModelErrorReason, type Spent } from "./model-error.ts";
import type { ModelAnswer, ModelCall, Tool } from "./models.ts";
import { readAnswer } from "./read-answer.ts";

const defaultToolCalls = 5;

interface Talk<T> {
  call: ModelCall<T>;
  conversation: Conversation;
  asked: Asked;
  /** Fires with the caller's, or when the time of the call is over. */
  signal: AbortSignal;
  spending: Spending;
}

/** Talks until the model has answered: it may call tools in between, within its budget, and all that it used is summed. */
export async function holdConversation<T>(
  call: ModelCall<T>,
  conversation: Conversation,
  asked: Asked,
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

async function converse<T>(talk: Talk<T>): Promise<T> {
  const { call, conversation, spending } = talk;
  const { maxToolCalls: budget = defaultToolCalls } = call;
  let mayCall = budget > 0 && call.tools !== undefined;
  // A round for each call, one for the answer, and one for the answer held to its schema.
  for (let round = 1; round <= budget + 2; round++) {
    const reply = await exchange(talk, mayCall);
    if (reply.calls.length > 0) {
      conversation.answerCalls(await runTools(reply.calls, call.tools ?? [], budget, spending));
      mayCall = spending.toolCalls.length < budget && round < budget;
      continue;
    }
    const read = "schema" in call.answer ? readAnswer(reply.text, call.answer.schema) : call.answer.read(reply.text);
    if (read.valid) {
      return read.value;
    }
    if (!mayCall || !conversation.askAgain) {
      throw failed(talk, "invalid", `does not follow its schema: ${read.problem} - try again, or name another model`);
    }
    conversation.askAgain();
    mayCall = false;
  }
  throw failed(talk, "invalid", `never came: it went on calling tools after its ${budget} calls - name another model`);
}

async function exchange<T>(talk: Talk<T>, mayCall: boolean): Promise<Reply> {
  const { call, conversation, spending } = talk;
  call.signal.throwIfAborted();
  const body = conversation.request(mayCall);
  call.beforeRequest?.(estimateUsd(call.model, body, outputTokens(call)), spending.usd, spending.usage);
  const reply = await send(talk, body);
  spending.add(reply.usage);
  spending.text = reply.text || (reply.refusal ?? "");
  if (reply.refusal !== null || reply.ending === "filtered") {
    const why = reply.refusal ?? "the provider's content filter stopped it";
    throw failed(talk, "refused", `is a refusal (${why}) - say the task in other words`);
  }
  if (reply.ending === "cut_off")
    throw failed(talk, "cut_off", `was cut off at ${outputTokens(call)} tokens - split the task into smaller nodes`);
  return reply;
}

async function send<T>({ call, conversation, signal, asked, spending }: Talk<T>, body: unknown): Promise<Reply> {
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

function failed<T>({ call, spending }: Talk<T>, reason: ModelErrorReason, what: string): ModelError {
  return new ModelError(reason, `the answer of model "${call.model}" to the ${call.role} ${what}`, spending.soFar());
}

export class Spending {
  usage: Usage = noUsage;
  usd = 0;
  text = "";
  readonly toolCalls: ToolCall[] = [];
  readonly #model: string;

  constructor(model: string) {
    this.#model = model;
  }

  add(usage: RequestUsage): void {
    this.usage = addUsage(this.usage, usage);
    this.usd = roundUsd(this.usd + costOf(this.#model, usage));
  }

  soFar(): Spent {
    return { usage: this.usage, costUsd: this.usd, text: this.text, toolCalls: this.toolCalls };
  }
}

/**
 * Runs what the model asked for, in order, and records each run. What cannot be run is answered with the reason, so that
 * the model can do better; it is no failure of the call.
 */
async function runTools(
  calls: RequestedCall[],
  tools: Tool[],
  budget: number,
  spending: Spending,
): Promise<{ id: string; text: string }[]> {
  const results = [];
  for (const call of calls) {
    const spent = spending.toolCalls.length >= budget;
    results.push({ id: call.id, text: spent ? "No more calls: answer now." : await runTool(call, tools, spending) });
  }
  return results;
}

async function runTool(call: RequestedCall, tools: Tool[], { toolCalls }: Spending): Promise<string> {
  const tool = tools.find(({ name }) => name === call.name);
  if (!tool) return `There is no tool "${call.name}"; there are: ${tools.map(({ name }) => name).join(", ")}.`;
  const args = readAnswer(call.arguments, tool.parameters);
  if (!args.valid) return `The arguments do not fit: ${args.problem}`;
  const { text, found } = await tool.run(args.value);
  toolCalls.push({ function: call.name, arguments: args.value as Record<string, unknown>, found });
  return text;
}
