import { roundUsd } from "../model/cost.ts";
import { ModelError } from "../model/model-error.ts";
import type { EmbeddingCall, Models } from "../model/models.ts";
import { asBudgetRefusal, checkBudget, readBudgets } from "./ask-model.ts";
import type { NodeRun, Recall, StepResult } from "./node-run.ts";

/** `refusal` is the result of the step if the embedding could exceed a cost limit. */
type RecallOutcome = Recall & { refusal?: Omit<StepResult, "input_data"> };

const noRecall: Recall = { spent: { tokens: 0, usd: 0 }, record: {} };

/**
 * Finds examples from the closest earlier tasks. A delivery embeds the task once, in the first step that writes code.
 * If an earlier delivery recorded this step, the delivery embeds nothing and stores its code without an embedding.
 */
export async function recallExamples(run: NodeRun, attempt: number): Promise<RecallOutcome> {
  if (run.recall) return attempt === 1 ? { ...run.recall, ...noRecall } : noRecall;
  return attempt === 1 && run.means.timeLeftMs() > 0 ? embedAndLookUp(run) : noRecall;
}

/** Adds the costs of finding examples (the recall) to the costs of a model call. */
export function addRecallCost<T extends Pick<StepResult, "tokens_input" | "cost_usd">>(record: T, { spent }: Recall) {
  const { tokens_input = 0, cost_usd = 0 } = record;
  return { ...record, tokens_input: tokens_input + spent.tokens, cost_usd: roundUsd(cost_usd + spent.usd) };
}

async function embedAndLookUp(run: NodeRun): Promise<RecallOutcome> {
  const { task, parts, executor, means } = run;
  try {
    const embedded = await embedTask(executor.prompt, (call) => parts.models.embed(call), {
      signal: means.signal,
      beforeRequest: async (estimatedUsd) =>
        checkBudget(run, { ...(await readBudgets(run)), inCallUsd: 0, estimatedUsd }),
    });
    if (!embedded) return noRecall;
    const { embedding, tokens, usd, ...details } = embedded;
    const examples = embedding ? await parts.knowledge.earlierExamples(task, embedding) : undefined;
    const record = { embedding: { ...details, tokens_input: tokens, cost_usd: usd } };
    run.recall = { ...(examples && { examples }), ...(embedding && { embedding }), spent: { tokens, usd }, record };
    return run.recall;
  } catch (error) {
    const refusal = asBudgetRefusal(error);
    // After the end of the Lambda's time, the error is dropped, because the next model call reports this end.
    if (!refusal && !means.signal.aborted) throw error;
    return refusal ? { ...noRecall, refusal } : noRecall;
  }
}

/** Limit of characters of a task that is embedded: embedding models read about 8,000 tokens. */
const longestTask = 8_000;

/**
 * Embeds a task's text, and rounds the embedding so that it can be stored with the code. Returns null if no embedding
 * model is set. If the call of the model fails, returns its `error` instead of throwing, because a node can do without
 * examples. Throws only errors that do not come from the model, such as a refusal of `beforeRequest`.
 */
export async function embedTask(prompt: string, embed: Models["embed"], call: Omit<EmbeddingCall, "texts">) {
  try {
    const answer = await embed({ ...call, texts: [prompt.slice(0, longestTask)] });
    if (!answer) return null;
    const { vectors, model, usage, costUsd } = answer;
    // Four digits are enough to compare similarities, and limit an embedding of 1,536 numbers to 10 KB.
    const embedding = vectors[0]?.map((value) => Math.round(value * 10_000) / 10_000) ?? null;
    return { embedding, model, tokens: usage.input, usd: costUsd };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return { embedding: null, tokens: error.spent.usage.input, usd: error.spent.costUsd, error: error.message };
  }
}
