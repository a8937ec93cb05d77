import { type JournalStep, NovaError } from "@nova/engine";
import type { ModelRole } from "@nova/workflow";
import { z } from "zod";
import type { Ending } from "../failures/failure.ts";
import { explainMissingPrice } from "../model/budgets-without-price.ts";
import { windowOf } from "../model/catalog.ts";
import { requireModel } from "../model/choose-model.ts";
import type { Usage } from "../model/cost.ts";
import { ModelError, type ModelErrorReason, type Spent } from "../model/model-error.ts";
import type { ModelCall } from "../model/models.ts";
import type { Prompt } from "../prompts/prompt.ts";
import { asBudgetRefusal, checkBudget, hasBudget, readBudgets, refuseIfTimeIsUp } from "./budget.ts";
import type { ModelRun } from "./model-run.ts";
import type { StepResult } from "./step.ts";

export type Question<T> = { role: ModelRole; prompt: Prompt } & Pick<ModelCall<T>, "answer"> &
  Partial<
    Pick<ModelCall<T>, "tools" | "maxToolCalls" | "maxOutputTokens" | "temperature" | "longestMs" | "isAskedOnce">
  > & {
    /** Costs of the same step before this call, which no record contains yet. */
    alreadyUsd?: number;
  };

/** Fields of a step that describe its model call. */
type CallRecord = Pick<
  StepResult,
  "model_used" | "tokens_input" | "tokens_cached" | "tokens_output" | "cost_usd" | "prompt"
> &
  Pick<StepResult, "tool_calls" | "answer" | "cost_notes">;

export type AskOutcome<T> = { record: CallRecord } & ({ value: T } | { refusal: Omit<StepResult, "input_data"> });

/**
 * Asks the model of a role. Returns a failed call as a refusal, for the record; throws only when the Lambda's time
 * ends.
 */
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
    const model = modelOf(run, role);
    callRecord.model_used = model;
    const note = hasBudget(run, now) ? explainMissingPrice(model) : null;
    if (note !== null) callRecord.cost_notes = [note];
    checkWindow(model, { instructions, input }, question.maxOutputTokens);
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

export function modelOf({ executor, task, parts }: ModelRun, role: ModelRole): string {
  return requireModel(role, executor.model, task.version.workflow.model, parts.defaultModel, parts.clock.now());
}

/** A token of English text has at least four bytes. */
const bytesPerToken = 4;

/** Refuses a prompt that does not fit into the model's window, before any request. @throws {ModelError} */
function checkWindow(model: string, { instructions, input }: Prompt, answerTokens = 0): void {
  const window = windowOf(model);
  const tokens = Math.ceil(Buffer.byteLength(instructions + input) / bytesPerToken);
  if (window === null || tokens + answerTokens <= window) return;
  const answer = answerTokens === 0 ? "" : ` and its answer up to ${answerTokens}`;
  const size = `the prompt has about ${tokens} tokens${answer}, and model "${model}" takes ${window} in all`;
  const advice = "shorten what is inserted (max_chars in a text node), or name a model with a larger window";
  throw new ModelError("invalid", `${size} - ${advice}`);
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

/** Reads the failure of a model call from its step. `isFinal`: no further attempt can help. */
export function readRefusal(step: Pick<JournalStep, "output_data" | "error_message">): Ending & { isFinal: boolean } {
  const { error_class, reason } = RecordedRefusal.parse(step.output_data);
  const isFinal = error_class !== "NodeFailed" || reason === "refused" || reason === "unclear";
  return { class: error_class, message: step.error_message ?? "the model gave no answer", isFinal };
}
