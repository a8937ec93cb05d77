import { type JournalStep, noCode, type PipelineOutcome, type TextMeans, type TextTask } from "@nova/engine";
import { defined, type TextExecutor } from "@nova/workflow";
import { z } from "zod";
import { askModel, readRefusal } from "../agents/ask-model.ts";
import type { ModelRun } from "../agents/model-run.ts";
import { type StepResult, takeStep } from "../agents/step.ts";
import type { Ending } from "../failures/failure.ts";
import { withoutThoughts } from "../model/thoughts.ts";
import { type AnswerForm, answerFormOf } from "./answer-form.ts";

/** Asks the model of a text node. If its answer does not fit, asks once more. */
export async function answerText(parts: ModelRun["parts"], task: TextTask, means: TextMeans): Promise<PipelineOutcome> {
  const executor = textExecutorOf(task);
  const form = answerFormOf(task, executor);
  const run = beginRun(parts, task, means, executor);
  const first = await takeStep(run, "TextWriter", 1, () => askOnce(run, task, executor, form));
  if (first.status === "success") return succeeded(first);
  const unfit = unfitAnswer(first);
  if (!unfit) return failed(readRefusal(first));
  const second = await takeStep(run, "TextWriter", 2, () => askOnce(run, task, executor, form, unfit));
  if (second.status === "success") return succeeded(second);
  const again = unfitAnswer(second);
  return failed(again ? failureAfterTwoAnswers(task, unfit, again) : readRefusal(second));
}

function textExecutorOf({ node }: TextTask): TextExecutor {
  if (node.executor.kind !== "text") throw new TypeError(`node "${node.id}" is no text node`);
  return node.executor;
}

function beginRun(parts: ModelRun["parts"], task: TextTask, means: TextMeans, executor: TextExecutor): ModelRun {
  const { model, maxCostUsd } = executor;
  return {
    task,
    means,
    parts,
    executor: defined({ model: model === undefined ? undefined : { text: model }, maxCostUsd }),
    spent: { usd: 0, tokens_input: 0, tokens_cached: 0, tokens_output: 0 },
  };
}

async function askOnce(
  run: ModelRun,
  { system, prompt, record, node }: TextTask,
  { temperature, maxTokens }: TextExecutor,
  form: AnswerForm,
  unfit?: Unfit,
): Promise<StepResult> {
  const instructions = [system, form.instruction].filter((text) => text !== "").join("\n\n");
  const asked = await askModel(run, {
    role: "text",
    prompt: { instructions, input: unfit ? repairOf(prompt, unfit) : prompt },
    answer: form.format,
    isAskedOnce: true,
    longestMs: node.timeoutSeconds * 1000,
    ...defined({ temperature, maxOutputTokens: maxTokens }),
  });
  const input_data = unfit ? { repairs: unfit.problem } : record;
  if ("refusal" in asked) {
    const refused = { ...asked.refusal, ...asked.record, input_data };
    return { ...refused, output_data: withAnswer(asked.refusal.output_data, asked.record.answer) };
  }
  const result = { status: "success" as const, set: form.set(asked.value), delete: [], logs: "", durationMs: 0 };
  return { ...asked.record, input_data, status: "success", output_data: null, result };
}

/** Characters of an unfit answer that its step keeps. */
const maxExcerpt = 4_000;

function withAnswer(output: unknown, answer = ""): object {
  return { ...(output as object), answer: withoutThoughts(answer).slice(0, maxExcerpt).toWellFormed() };
}

const RecordedAnswer = z.object({
  reason: z.literal("invalid"),
  answer: z.string(),
  problem: z.string(),
  advice: z.string(),
});
type Unfit = z.infer<typeof RecordedAnswer>;

/** The unfit answer of a step; undefined for a refusal, after which the model is not asked again. */
function unfitAnswer({ output_data }: JournalStep): Unfit | undefined {
  return RecordedAnswer.safeParse(output_data).data;
}

function repairOf(prompt: string, { answer, problem }: Unfit): string {
  const before = answer === "" ? "Your answer before was empty.\n\n" : `Your answer before was:\n${answer}\n\n`;
  return `${prompt}\n\n${before}It does not fit: ${problem}. Answer again.`;
}

function succeeded({ result }: JournalStep): PipelineOutcome {
  if (result?.status !== "success") throw new TypeError("a step that answered has no result");
  return { ...noCode, status: "success", result };
}

function failed({ class: name, message }: Ending): PipelineOutcome {
  return { ...noCode, status: "failed", class: name, message };
}

const maxShown = 500;

function failureAfterTwoAnswers({ node, mask }: TextTask, first: Unfit, second: Unfit): Ending {
  const shown = ({ answer }: Unfit) => JSON.stringify(mask(answer).slice(0, maxShown).toWellFormed());
  const message = `node "${node.id}": two answers of its model do not fit: ${second.problem} - ${second.advice}, or ask for less; the first was ${shown(first)}, the second ${shown(second)}`;
  return { class: "NodeFailed", message };
}
