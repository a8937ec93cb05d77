import { type Node, secretKeys, type TaskNode, type TextExecutor } from "@nova/workflow";
import { inputBefore } from "../../chain/position.ts";
import { escapeReferences, offloadLargeValues, offloadWhole } from "../../context/references.ts";
import type { BlobRef } from "../../ports/blobs.ts";
import { noCode, type PipelineOutcome, type StepDraft, type TextMeans, type TextTask } from "../../ports/pipeline.ts";
import type { KindPorts, NodeDefinition } from "../../protocol/definition.ts";
import type { MoreFacts } from "../../protocol/outcome.ts";
import { warmBefore } from "../../sandboxes/life.ts";
import { turnFacts } from "../judge.ts";
import {
  attemptsBefore,
  type Earlier,
  type JournalSite,
  PipelineEnded,
  StepJournal,
  TurnLost,
} from "../prompt/journal.ts";
import { commonMeans } from "../prompt/means.ts";
import { judgePipeline, settlePrompt } from "../prompt/run-prompt.ts";
import type { Attempt, Executor, Prepared, TaskTime, Work } from "../run-attempts.ts";
import { createNodeIo, type NodeIo, type Task, withInputKeys } from "../task-input.ts";
import { type Question, questionFor } from "./question.ts";

/**
 * Runs a node whose value a model writes, without a sandbox. It asks the model, or finds the answer that an earlier
 * delivery recorded.
 */
export const textExecutor: Executor<PreparedText> = { prepare: prepareText, work: askModel, settle: settlePrompt };

interface PreparedText extends Prepared {
  asking: Asking;
  earlier: Earlier;
}

async function prepareText(ports: KindPorts, task: Task): Promise<PreparedText> {
  const asking = await prepareQuestion(ports, task);
  return { asking, earlier: await attemptsBefore(ports, task.position), kept: asking.kept };
}

async function askModel(
  ports: KindPorts,
  task: Task,
  attempt: Attempt,
  { asking, earlier }: PreparedText,
  { signal }: TaskTime,
): Promise<Work> {
  const site: JournalSite = { ports, position: task.position, attempt, io: asking.io };
  const { asked } = asking.question;
  return runWithModel(site, task, { earlier, asked }, async (journal) => ({
    outcome: await answerFrom(site, task, asking, journal, signal),
  }));
}

/** The outcome of a model's answer, and more facts about the answer for the entry. */
export interface Answered {
  outcome: PipelineOutcome;
  more?: MoreFacts;
  /** The next node if it is not the usual one. */
  next?: string;
}

/**
 * Runs one delivery of a node that asks a model: finds the answer that an earlier delivery recorded, or calls `ask`.
 * `asked` is the hash of the question.
 */
export async function runWithModel(
  site: JournalSite,
  task: Task,
  { earlier, asked }: { earlier: Earlier; asked: string },
  ask: (journal: StepJournal) => Promise<Answered>,
): Promise<Work> {
  const { attempt, position, io } = site;
  const journal = new StepJournal(site, earlier);
  try {
    await journal.adopt();
    const ending = await journal.ending();
    const answered: Answered = ending ? { outcome: ending } : await ask(journal);
    if (!(await attempt.turnWritten)) throw new TurnLost();
    const { outcome: found } = answered;
    // Every delivery computes the same success from the recorded steps. Perhaps only this delivery fails, so its failure
    // counts only after it is recorded.
    const result = found.status === "failed" ? await journal.end(found) : found;
    if (!result) return { kind: "again" };
    const facts = { ...turnFacts(attempt.turn), sandboxId: null, warm: warmBefore(position) };
    const outcome = await judgePipeline(task, result, journal, io, facts);
    const contents = { ...outcome.more?.contents, ...answered.more?.contents };
    const whole = { ...outcome, more: { ...outcome.more, ...answered.more, contents, asked } };
    const { next } = answered;
    return {
      kind: "finished",
      outcome: next !== undefined && whole.status === "success" ? { ...whole, next } : whole,
      reusable: null,
      lives: false,
    };
  } catch (error) {
    if (error instanceof TurnLost || error instanceof PipelineEnded) return { kind: "again" };
    throw error;
  }
}

type Asking = Awaited<ReturnType<typeof prepareQuestion>>;

/** Reads the input of a node that asks a model and runs no code. */
export async function prepareInput(ports: KindPorts, { position, node, version }: Task) {
  const { kept, input: found } = await inputBefore(ports, position);
  const input = await withInputKeys(ports, position, node, version.workflow, found);
  return { kept, input, io: await createNodeIo(ports, position, input, secretKeys(version.workflow)) };
}

async function prepareQuestion(ports: KindPorts, { position, ...definition }: Task) {
  const { kept, input, io } = await prepareInput(ports, { ...definition, position });
  const executor = textExecutorOf(definition.node);
  const mask = (text: string) => io.mask(text);
  return { executor, io, kept, question: await questionFor(ports, position, definition, executor, { input, mask }) };
}

/**
 * Returns the SHA-256 of the question that a text node would ask its model at this position in the chain; undefined for
 * other nodes.
 */
export async function promptHashAt(
  ports: KindPorts,
  position: Task["position"],
  definition: NodeDefinition,
): Promise<string | undefined> {
  const { node } = definition;
  if (!isTextNode(node)) return undefined;
  return (await prepareQuestion(ports, { ...definition, node, position })).question.asked;
}

export function isTextNode(node: Node | undefined): node is TaskNode {
  return node !== undefined && "executor" in node && node.executor.kind === "text";
}

function textExecutorOf({ id, executor }: TaskNode): TextExecutor {
  if (executor.kind === "text") return executor;
  throw new TypeError(`node "${id}" is no text node`);
}

async function answerFrom(
  site: JournalSite,
  task: Task,
  { executor, question, io }: Asking,
  journal: StepJournal,
  signal: AbortSignal,
): Promise<PipelineOutcome> {
  const { node } = task;
  const { problem } = question;
  const refused = (why: string) =>
    ({ ...noCode, status: "failed", class: "NodeFailed", message: `node "${node.id}"${why}` }) as const;
  if (problem !== undefined) return refused(`: ${problem}`);
  if (task.version.workflow.models === false) {
    return refused(' would ask a model, and "models": false of its workflow forbids that - remove one of the two');
  }
  const asked = textTask(site, task, question, journal);
  const next: TextMeans["journal"]["next"] = (work) =>
    journal.next(async (at) => slimStep(await work(at), executor, io));
  return site.ports.pipeline.answer(asked, { ...commonMeans(site, journal, signal), journal: { next } });
}

/** Builds the task for the pipeline. `system` and `prompt` of the question have no secrets. */
export function textTask(
  { io, position }: JournalSite,
  { node, version, edges }: Task,
  { system, prompt, record }: Pick<Question, "system" | "prompt" | "record">,
  journal: StepJournal,
): TextTask {
  const { at, before } = position;
  return {
    at,
    client: before.client,
    version,
    node,
    edges,
    mask: (text) => io.mask(text),
    earlierUsd: journal.earlier.spent.cost_usd,
    spentUsd: before.spent?.cost_usd ?? 0,
    system,
    prompt,
    record,
  };
}

/** Moves long parts of an answer to blobs, so that the step and the context only refer to them. */
async function slimStep(draft: StepDraft, executor: TextExecutor, io: NodeIo): Promise<StepDraft> {
  const { result } = draft;
  if (result?.status !== "success") return draft;
  const set = await Promise.all(
    result.set.map(async ({ key, json }) => ({ key, json: await slimAnswer(json, executor, io) })),
  );
  return { ...draft, result: { ...result, set } };
}

export function slimAnswer(json: string, { outputSchema }: TextExecutor, io: NodeIo): Promise<string> {
  const save = (ref: BlobRef, body: Uint8Array) => io.storeBlob(ref, once(body));
  return (outputSchema ? offloadWhole : offloadLargeValues)(escapeReferences(json), save);
}

async function* once(body: Uint8Array): AsyncIterable<Uint8Array> {
  yield body;
}
