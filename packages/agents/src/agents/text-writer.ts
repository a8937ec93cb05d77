import type { AgentReply, AgentTask, JournalStep, PipelineOutcome, RequestedCall } from "@nova/engine";
import { noCode, parsedOrNot, replyKey, type TextMeans, type TextTask } from "@nova/engine";
import type { TextExecutor, WrittenJson } from "@nova/workflow";
import { checkData, conditionLabel, defaultLabel, defined, isObject, objectOf } from "@nova/workflow";
import { z } from "zod";
import type { Ending } from "../failures/failure.ts";
import type { ReadFormat, Reply } from "../model/models.ts";
import { type ReadResult, readObject, readText, withoutThoughts } from "../model/read-answer.ts";
import { askModel, readRefusal } from "./ask-model.ts";
import { type ModelRun, type StepResult, takeStep } from "./node-run.ts";

/** Asks the model of a text node. Asks once more if the answer does not have the form that the node requires. */
export async function answerText(parts: ModelRun["parts"], task: TextTask, means: TextMeans): Promise<PipelineOutcome> {
  const run = beginTextRun(parts, task, means);
  const first = await takeStep(run, "TextWriter", 1, () => askOnce(run, task));
  const unfit = unfitAnswer(first);
  if (!unfit) return outcomeOf(first);
  const second = await takeStep(run, "TextWriter", 2, () => askOnce(run, task, unfit));
  const again = unfitAnswer(second);
  return again ? failed(failureAfterTwoAnswers(task, unfit, again)) : outcomeOf(second);
}

/** Asks the model of an agent once, and sends the whole earlier conversation. The step records the whole reply. */
export async function converse(parts: ModelRun["parts"], task: AgentTask, means: TextMeans): Promise<PipelineOutcome> {
  const run = beginTextRun(parts, task, means);
  return outcomeOf(await takeStep(run, "TextWriter", 1, () => continueConversation(run, task)));
}

function textExecutorOf({ node }: Pick<TextTask, "node">): TextExecutor {
  if (node.executor.kind !== "text") throw new TypeError(`node "${node.id}" is no text node`);
  return node.executor;
}

function beginTextRun(parts: ModelRun["parts"], task: TextTask, means: TextMeans): ModelRun {
  const { model, maxCostUsd } = textExecutorOf(task);
  const executor = defined({ model: model === undefined ? undefined : { text: model }, maxCostUsd });
  const spent = { usd: 0, tokens_input: 0, tokens_cached: 0, tokens_output: 0 };
  return { task, means, parts, executor, spent };
}

function outcomeOf(step: JournalStep): PipelineOutcome {
  const { result } = step;
  const isAnswered = step.status === "success" && result?.status === "success";
  return isAnswered ? { ...noCode, status: "success", result } : failed(readRefusal(step));
}

function failed({ class: name, message }: Ending): PipelineOutcome {
  return { ...noCode, status: "failed", class: name, message };
}

/** Builds the part of a question that is the same for text nodes and agents. */
function questionOf(task: TextTask, { instruction }: AnswerForm, input: string) {
  const { temperature, maxTokens } = textExecutorOf(task);
  return {
    role: "text" as const,
    prompt: { instructions: [task.system, instruction].filter((text) => text !== "").join("\n\n"), input },
    isAskedOnce: true,
    longestMs: task.node.timeoutSeconds * 1000,
    ...defined({ temperature, maxOutputTokens: maxTokens }),
  };
}

function answeredStep(set: { key: string; json: string }[]) {
  const result = { status: "success" as const, set, delete: [], logs: "", durationMs: 0 };
  return { status: "success" as const, output_data: null, result };
}

async function askOnce(run: ModelRun, task: TextTask, unfit?: Unfit): Promise<StepResult> {
  const form = answerFormOf(task);
  const input = unfit ? repairOf(task.prompt, unfit) : task.prompt;
  const asked = await askModel(run, { ...questionOf(task, form, input), answer: form.format });
  const input_data = unfit ? { repairs: unfit.problem } : task.record;
  if ("refusal" in asked) {
    const refused = { ...asked.refusal, ...asked.record, input_data };
    return { ...refused, output_data: withAnswer(asked.refusal.output_data, asked.record.answer) };
  }
  return { ...asked.record, input_data, ...answeredStep(form.set(asked.value)) };
}

async function continueConversation(run: ModelRun, task: AgentTask): Promise<StepResult> {
  const { prompt, record: input_data, tools, exchanges, mayCall } = task;
  const form = answerFormOf(task);
  const { format } = form;
  const asked = await askModel<Reply>(run, {
    ...questionOf(task, form, prompt),
    answer: { whole: (reply) => reply, ...("json" in format && { name: format.name, json: format.json }) },
    exchanges,
    agentTools: tools,
    maxToolCalls: mayCall ? Number.MAX_SAFE_INTEGER : 0,
  });
  if ("refusal" in asked) return { ...asked.refusal, ...asked.record, input_data };
  const { text, calls, items } = asked.value;
  const said = withoutThoughts(text);
  const answer = calls.length > 0 ? undefined : await readFinal(said, format);
  const reply: AgentReply = { text: said, calls, ...defined({ items, answer }) };
  const answered = answeredStep([{ key: replyKey, json: JSON.stringify(reply) }]);
  return { ...asked.record, tool_calls: calls.map(shownCall), input_data, ...answered };
}

async function readFinal(said: string, { read }: ReadFormat): Promise<NonNullable<AgentReply["answer"]>> {
  const found = await read(said);
  return found.valid ? { json: found.value } : { problem: found.problem };
}

/** Limit of characters that a recorded step keeps of an unusable answer, and of the arguments of a call. */
const maxRecorded = 4_000;

/** Formats a call for the record of the step. The arguments of the call may be any text. */
function shownCall({ name, arguments: written }: RequestedCall) {
  const parsed = parsedOrNot(written);
  return { function: name, arguments: isObject(parsed) ? parsed : { text: recorded(written) } };
}

function recorded(text: string): string {
  return text.slice(0, maxRecorded).toWellFormed();
}

function withAnswer(output: unknown, answer = ""): object {
  return { ...(output as object), answer: recorded(withoutThoughts(answer)) };
}

const RecordedAnswer = z.object({
  reason: z.literal("invalid"),
  answer: z.string(),
  problem: z.string(),
  advice: z.string(),
});
type Unfit = z.infer<typeof RecordedAnswer>;

/**
 * Returns the recorded answer of a step if the answer had a wrong form. Returns undefined for a refusal, after which
 * the caller does not ask the model again.
 */
function unfitAnswer({ output_data }: JournalStep): Unfit | undefined {
  return RecordedAnswer.safeParse(output_data).data;
}

function repairOf(prompt: string, { answer, problem }: Unfit): string {
  const before = answer === "" ? "Your answer before was empty.\n\n" : `Your answer before was:\n${answer}\n\n`;
  return `${prompt}\n\n${before}It does not fit: ${problem}. Answer again.`;
}

const maxShown = 500;

function failureAfterTwoAnswers({ node, mask }: TextTask, first: Unfit, second: Unfit): Ending {
  const shown = ({ answer }: Unfit) => JSON.stringify(mask(answer).slice(0, maxShown).toWellFormed());
  const message = `node "${node.id}": two answers of its model do not fit: ${second.problem} - ${second.advice}, or ask for less; the first was ${shown(first)}, the second ${shown(second)}`;
  return { class: "NodeFailed", message };
}

interface AnswerForm {
  /** A sentence that tells the model the form of its answer. It follows the text of the workflow's author. */
  instruction: string;
  format: ReadFormat;
  /** Returns the keys that the answer, a JSON text, sets. */
  set(json: string): { key: string; json: string }[];
}

function answerFormOf(task: TextTask): AnswerForm {
  const { node, edges } = task;
  const { outputSchema, into } = textExecutorOf(task);
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
