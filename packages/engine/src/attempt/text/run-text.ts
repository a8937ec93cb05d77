import { type Node, secretKeys, type TaskNode, type TextExecutor } from "@nova/workflow";
import { inputBefore } from "../../chain/position.ts";
import { escapeReferences, offloadLargeValues, offloadWhole } from "../../context/references.ts";
import type { BlobRef } from "../../ports/blobs.ts";
import { noCode, type PipelineOutcome, type StepDraft, type TextMeans, type TextTask } from "../../ports/pipeline.ts";
import type { KindPorts, NodeDefinition } from "../../protocol/definition.ts";
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
import { questionFor } from "./question.ts";

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
  const journal = new StepJournal(site, earlier);
  try {
    await journal.adopt();
    const ending = await journal.ending();
    const result = ending ?? (await answerFrom(site, task, asking, journal, signal));
    if (!(await attempt.turnWritten)) throw new TurnLost();
    return await finishWith(site, task, asking, result, journal);
  } catch (error) {
    if (error instanceof TurnLost || error instanceof PipelineEnded) return { kind: "again" };
    throw error;
  }
}

type Asking = Awaited<ReturnType<typeof prepareQuestion>>;

async function prepareQuestion(ports: KindPorts, { position, ...definition }: Task) {
  const { kept, input: found } = await inputBefore(ports, position);
  const input = await withInputKeys(ports, position, definition.node, definition.version.workflow, found);
  const io = await createNodeIo(ports, position, input, secretKeys(definition.version.workflow));
  const executor = textExecutorOf(definition.node);
  const mask = (text: string) => io.mask(text);
  return { executor, io, kept, question: await questionFor(ports, position, definition, executor, { input, mask }) };
}

/** SHA-256 of the question that a text node would ask at a place; undefined for other nodes. */
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
  const { node, position } = task;
  const { problem } = question;
  const refused = (why: string) =>
    ({ ...noCode, status: "failed", class: "NodeFailed", message: `node "${node.id}"${why}` }) as const;
  if (problem !== undefined) return refused(`: ${problem}`);
  if (task.version.workflow.models === false) {
    return refused(' would ask a model, and "models": false of its workflow forbids that - remove one of the two');
  }
  const asked: TextTask = {
    at: position.at,
    client: position.before.client,
    version: task.version,
    node,
    edges: task.edges,
    mask: (text) => io.mask(text),
    earlierUsd: journal.earlier.spent.cost_usd,
    spentUsd: position.before.spent?.cost_usd ?? 0,
    system: question.system,
    prompt: question.prompt,
    record: question.record,
  };
  const next: TextMeans["journal"]["next"] = (work) =>
    journal.next(async (at) => slimStep(await work(at), executor, io));
  return site.ports.pipeline.answer(asked, { ...commonMeans(site, journal, signal), journal: { next } });
}

/** Moves long parts of an answer to blobs, so that the step and the context only refer to them. */
async function slimStep(draft: StepDraft, { outputSchema }: TextExecutor, io: NodeIo): Promise<StepDraft> {
  const { result } = draft;
  if (result?.status !== "success") return draft;
  const save = (ref: BlobRef, body: Uint8Array) => io.storeBlob(ref, once(body));
  const slim = outputSchema ? offloadWhole : offloadLargeValues;
  const set = await Promise.all(
    result.set.map(async ({ key, json }) => ({ key, json: await slim(escapeReferences(json), save) })),
  );
  return { ...draft, result: { ...result, set } };
}

async function* once(body: Uint8Array): AsyncIterable<Uint8Array> {
  yield body;
}

async function finishWith(
  { attempt, position, io }: JournalSite,
  task: Task,
  { question }: Asking,
  found: PipelineOutcome,
  journal: StepJournal,
): Promise<Work> {
  // A success is the same in every delivery, because it follows from the steps. Another delivery may not fail, so a
  // failure must be recorded before it counts.
  const result = found.status === "failed" ? await journal.end(found) : found;
  if (!result) return { kind: "again" };
  const facts = { ...turnFacts(attempt.turn), sandboxId: null, warm: position.before.warm };
  const outcome = await judgePipeline(task, result, journal, io, facts);
  const asked = { ...outcome, more: { ...outcome.more, asked: question.asked } };
  return { kind: "finished", outcome: asked, reusable: null, lives: false };
}
