import { type Exchange, type JournalStep, type MonthBudget, NovaError } from "@nova/engine";
import { z } from "zod";
import type { Ending } from "../failures/failure.ts";
import { windowOf } from "../model/catalog.ts";
import { explainMissingPrice, requireModel } from "../model/choose-model.ts";
import type { Usage } from "../model/cost.ts";
import { ModelError, type ModelErrorReason, type Spent } from "../model/model-error.ts";
import type { ModelCall } from "../model/models.ts";
import type { Prompt } from "../prompts/prompt.ts";
import type { ModelRun, StepResult } from "./node-run.ts";

type SetHere = "model" | "instructions" | "input" | "signal" | "timeoutMs" | "beforeRequest";

type Question<T> = Omit<ModelCall<T>, SetHere> & {
  prompt: Prompt;
  /**
   * Dollars that the same step spent before this call, such as for an embedding. No recorded step contains this amount
   * yet.
   */
  alreadyUsd?: number;
};

/** Fields of a step that describe its model call. */
type CallRecord = Partial<Omit<StepResult, "status" | "input_data" | "output_data">>;

type AskOutcome<T> = { record: CallRecord } & ({ value: T } | { refusal: Omit<StepResult, "input_data"> });

/** Asks the model of a role. If the call fails, returns a refusal. Throws only when the Lambda's time ends. */
export async function askModel<T>(
  run: ModelRun,
  { role, prompt, alreadyUsd = 0, ...question }: Question<T>,
): Promise<AskOutcome<T>> {
  const { means, parts, task } = run;
  const overdue = refuseIfTimeIsUp(run);
  if (overdue) return { record: {}, refusal: overdue };
  const instructions = task.mask(prompt.instructions);
  const input = task.mask(prompt.input);
  const callRecord: CallRecord = { prompt: `${instructions}\n\n${input}` };
  const now = await readBudgets(run);
  try {
    const { executor } = run;
    const fallback = parts.defaultModel;
    const model = requireModel(role, executor.model, task.version.workflow.model, fallback, parts.clock.now());
    callRecord.model_used = model;
    const note = hasBudget(run, now) ? explainMissingPrice(model) : null;
    if (note !== null) callRecord.cost_notes = [note];
    checkWindow(model, instructions + input, question);
    const answer = await parts.models.ask<T>({
      ...question,
      role,
      model,
      instructions,
      input,
      signal: means.signal,
      timeoutMs: Math.max(1, means.timeLeftMs()),
      beforeRequest: (estimatedUsd, usd, usage) => {
        Object.assign(callRecord, usageOf(usage), { cost_usd: usd });
        checkBudget(run, { ...now, inCallUsd: alreadyUsd + usd, estimatedUsd });
      },
    });
    return { record: addSpent(callRecord, answer), value: answer.value };
  } catch (error) {
    return afterFailure(run, callRecord, error);
  }
}

/**
 * Bytes per token, for a low estimate of tokens: a token of English text has about four bytes, and a token of other
 * text has fewer.
 */
const bytesPerToken = 4;

/**
 * Refuses a prompt before the first request, if the prompt and the conversation after it do not fit into the model's
 * window. @throws {ModelError}
 */
function checkWindow(
  model: string,
  prompt: string,
  { exchanges = [], maxOutputTokens = 0 }: Partial<Pick<ModelCall<unknown>, "exchanges" | "maxOutputTokens">>,
): void {
  const window = windowOf(model);
  const texts = [prompt, ...exchanges.flatMap(textsOf)];
  const tokens = Math.ceil(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / bytesPerToken);
  if (window === null || tokens + maxOutputTokens <= window) return;
  const answer = maxOutputTokens === 0 ? "" : ` and its answer up to ${maxOutputTokens}`;
  const what = exchanges.length === 0 ? "the prompt has" : "the prompt and the conversation have";
  const size = `${what} about ${tokens} tokens${answer}, and model "${model}" takes ${window} in all`;
  const advice =
    "shorten what is inserted (max_chars in a text node or an agent), or name a model with a larger window";
  throw new ModelError("invalid", `${size} - ${advice}`);
}

function textsOf({ reply: { text, calls }, results, say = "" }: Exchange): string[] {
  return [text, say, ...calls.map((call) => call.arguments), ...results.map((result) => result.text)];
}

function afterFailure({ means, task }: ModelRun, callRecord: CallRecord, error: unknown): AskOutcome<never> {
  if (means.signal.aborted) throw unfinishedError(task.node.id, error);
  if (error instanceof ModelError) return { record: addSpent(callRecord, error.spent), refusal: refusalOf(error) };
  const refusal = asBudgetRefusal(error);
  if (!refusal) throw error;
  return { record: callRecord, refusal };
}

function addSpent(callRecord: CallRecord, { usage, costUsd, toolCalls, text, isEstimated }: Spent): CallRecord {
  const spent = { ...usageOf(usage), cost_usd: costUsd, tool_calls: toolCalls, answer: text };
  const notes = [...(callRecord.cost_notes ?? []), ...(isEstimated ? [estimateNote(callRecord.model_used ?? "")] : [])];
  return { ...callRecord, ...spent, ...(notes.length > 0 && { cost_notes: notes }) };
}

function estimateNote(model: string): string {
  return `the server of model "${model}" reports no tokens, or more or fewer than can be true, so they are estimated from the bytes that were sent and received`;
}

function usageOf({ input, cached, output }: Usage): CallRecord {
  return { tokens_input: input, tokens_cached: cached, tokens_output: output };
}

const answerReasons: ReadonlySet<ModelErrorReason> = new Set(["refused", "cut_off", "invalid", "unclear"]);

function refusalOf({ reason, message, unusable }: ModelError): Omit<StepResult, "input_data"> {
  const error_class = answerReasons.has(reason) ? "NodeFailed" : "ModelUnavailable";
  return { status: "failed", error_message: message, output_data: { error_class, reason, ...unusable } };
}

function unfinishedError(node: string, cause: unknown): NovaError {
  const message = `node "${node}" still waits for its model; the next delivery goes on after its last step`;
  return new NovaError("NodeUnfinished", message, { cause });
}

const RecordedRefusal = z.object({
  error_class: z.enum(["NodeFailed", "ModelUnavailable", "BudgetExceeded"]),
  reason: z.string().optional(),
});

/** Reads the failure of a model call from its step. `isFinal` is true if no further attempt can help. */
export function readRefusal(step: Pick<JournalStep, "output_data" | "error_message">): Ending & { isFinal: boolean } {
  const { error_class, reason } = RecordedRefusal.parse(step.output_data);
  const isFinal = error_class !== "NodeFailed" || reason === "refused" || reason === "unclear";
  return { class: error_class, message: step.error_message ?? "the model gave no answer", isFinal };
}

/** Reads the costs of other branches and of the client's month, which count towards the limits for the next call. */
export async function readBudgets({ task, means }: ModelRun): Promise<Pick<CallCost, "besideUsd" | "month">> {
  // The costs of other branches and items matter only if the whole run has a limit.
  const beside = task.version.workflow.maxCostUsd === undefined ? 0 : means.spentBesideUsd();
  const [besideUsd, month] = await Promise.all([beside, means.monthBudget()]);
  return { besideUsd, month };
}

/** Returns true if the node, the whole run or the client's month has a limit. */
function hasBudget({ task, executor }: ModelRun, { month }: Pick<CallCost, "month">): boolean {
  return [executor.maxCostUsd, task.version.workflow.maxCostUsd, month?.limitUsd].some((limit) => limit !== undefined);
}

interface CallCost {
  besideUsd: number;
  /** Costs of the client's month when the call started; null if the client has no monthly limit. */
  month: MonthBudget | null;
  /** Costs of this call's earlier requests, which no record contains yet. */
  inCallUsd: number;
  estimatedUsd: number;
}

/**
 * Refuses a request that could exceed the limit of the node, of the whole run, or of the client's month.
 * @throws {NovaError} BudgetExceeded, with the amount spent.
 */
export function checkBudget(
  { task, executor, spent }: ModelRun,
  { besideUsd, month, inCallUsd, estimatedUsd }: CallCost,
): void {
  const byNode = task.earlierUsd + spent.usd + inCallUsd;
  const byRun = task.spentUsd + besideUsd + byNode;
  const byClient = (month?.spentUsd ?? 0) + inCallUsd;
  const limits = [
    [`node "${task.node.id}"`, byNode, executor.maxCostUsd, "the node's limits"],
    ["this run", byRun, task.version.workflow.maxCostUsd, "the workflow's limits"],
    [`client "${task.client}"`, byClient, month?.limitUsd, "the client's quotas"],
  ] as const;
  for (const [of, spentUsd, limitUsd, raise] of limits) {
    if (limitUsd === undefined || spentUsd + estimatedUsd <= limitUsd) continue;
    const spending = `${of} has spent ${dollars(spentUsd)} of ${dollars(limitUsd)} on models`;
    const advice = `raise ${raise}.max_cost_usd, or choose a cheaper model`;
    const next = `the next request may cost ${dollars(estimatedUsd)}`;
    throw new NovaError("BudgetExceeded", `${spending}, and ${next} - ${advice}`);
  }
}

/** Returns a failed result for a step whose node has no time left to ask a model; null if there is time left. */
function refuseIfTimeIsUp({ means, task }: ModelRun): Omit<StepResult, "input_data"> | null {
  if (means.timeLeftMs() > 0) return null;
  const advice = "split its task into smaller nodes";
  return budgetRefusal(`node "${task.node.id}" has used up the time that it has in all - ${advice}`);
}

/**
 * Returns the result of a step that may not call its model: the call could exceed a cost limit, or the node has no time
 * left.
 */
function budgetRefusal(error_message: string): Omit<StepResult, "input_data"> {
  return { status: "failed", error_message, output_data: { error_class: "BudgetExceeded" } };
}

/** Turns a BudgetExceeded error into the result of the step that the error ends. Returns null for other errors. */
export function asBudgetRefusal(error: unknown): Omit<StepResult, "input_data"> | null {
  return error instanceof NovaError && error.name === "BudgetExceeded" ? budgetRefusal(error.message) : null;
}

/** Formats an amount with up to seven digits, because a call may cost less than a thousandth of a cent. */
function dollars(usd: number): string {
  return `$${usd.toFixed(7).replace(/(\.\d\d.*?)0+$/, "$1")}`;
}
