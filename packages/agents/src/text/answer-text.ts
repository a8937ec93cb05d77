import { type JournalStep, noCode, type PipelineOutcome, type TextMeans, type TextTask } from "@nova/engine";
import {
  checkData,
  conditionLabel,
  defaultLabel,
  defined,
  objectOf,
  type TextExecutor,
  type WrittenJson,
} from "@nova/workflow";
import { z } from "zod";
import { askModel, readRefusal } from "../agents/ask-model.ts";
import { type ModelRun, type StepResult, takeStep } from "../agents/node-run.ts";
import type { Ending } from "../failures/failure.ts";
import type { ReadFormat } from "../model/models.ts";
import { type ReadResult, readObject, readText, withoutThoughts } from "../model/read-answer.ts";

/** Asks the model of a text node. Asks once more if the answer does not have the form that the node requires. */
export async function answerText(parts: ModelRun["parts"], task: TextTask, means: TextMeans): Promise<PipelineOutcome> {
  const executor = textExecutorOf(task);
  const form = answerFormOf(task, executor);
  const run = beginTextRun(parts, task, means, executor);
  const first = await takeStep(run, "TextWriter", 1, () => askOnce(run, task, executor, form));
  if (first.status === "success") return succeeded(first);
  const unfit = unfitAnswer(first);
  if (!unfit) return failed(readRefusal(first));
  const second = await takeStep(run, "TextWriter", 2, () => askOnce(run, task, executor, form, unfit));
  if (second.status === "success") return succeeded(second);
  const again = unfitAnswer(second);
  return failed(again ? failureAfterTwoAnswers(task, unfit, again) : readRefusal(second));
}

export function textExecutorOf({ node }: Pick<TextTask, "node">): TextExecutor {
  if (node.executor.kind !== "text") throw new TypeError(`node "${node.id}" is no text node`);
  return node.executor;
}

export function beginTextRun(
  parts: ModelRun["parts"],
  task: TextTask,
  means: TextMeans,
  executor: TextExecutor,
): ModelRun {
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

/** Limit of characters of an unusable answer in the record of its step. */
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

/**
 * Returns the answer of a step if the answer had a wrong form. Returns undefined for a refusal; the caller then does
 * not ask the model again.
 */
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

export interface AnswerForm {
  /** A sentence that tells the model the form of its answer. It follows the text of the workflow's author. */
  instruction: string;
  format: ReadFormat;
  /** Returns the keys that the answer, a JSON text, sets. */
  set(json: string): { key: string; json: string }[];
}

export function answerFormOf({ node, edges }: Pick<TextTask, "node" | "edges">, executor: TextExecutor): AnswerForm {
  const { outputSchema, into } = executor;
  const set = (json: string) => [{ key: into, json }];
  if (node.type === "decision") return decisionForm(edges, into);
  if (!outputSchema) return { instruction: "", format: { read: async (answer) => readText(answer) }, set };
  return {
    instruction: "Answer with one JSON object.",
    format: { name: "answer", json: objectOf(outputSchema), read: (answer) => readData(answer, outputSchema) },
    set,
  };
}

async function readData(answer: string, schema: WrittenJson): Promise<ReadResult<string>> {
  const read = readObject(answer);
  const problems = read.valid ? await checkData(schema, read.value) : [];
  return problems.length > 0 ? { valid: false, problem: problems.join("; ") } : read;
}

type Choices = ReadonlyMap<string, string>;

/** Lets the model choose an edge by name, and sets the edge's value. */
function decisionForm(edges: TextTask["edges"], into: string): AnswerForm {
  const values = edges.map(({ condition = defaultLabel }) => condition);
  const choices: Choices = new Map(values.map((value) => [conditionLabel(value), JSON.stringify(value)]));
  const names = [...choices.keys()];
  const property = { type: "string", enum: names };
  return {
    instruction: `Answer with one JSON object whose branch_decision is one of ${names.map((name) => JSON.stringify(name)).join(", ")}.${choices.has(defaultLabel) ? ` "${defaultLabel}" is for what none of the others fits.` : ""}`,
    format: {
      name: "decision",
      json: {
        type: "object",
        properties: { branch_decision: property },
        required: ["branch_decision"],
        additionalProperties: false,
      },
      read: async (answer) => readChoice(answer, choices),
    },
    set: (json) => [
      { key: "branch_decision", json },
      { key: into, json },
    ],
  };
}

function readChoice(answer: string, choices: Choices): ReadResult<string> {
  const read = readObject(answer);
  if (!read.valid) return read;
  const { branch_decision: name } = JSON.parse(read.value) as { branch_decision?: unknown };
  const value = choices.get(String(name));
  if (value !== undefined) return { valid: true, value };
  const names = [...choices.keys()].map((one) => JSON.stringify(one)).join(", ");
  return { valid: false, problem: `branch_decision is none of ${names}` };
}
