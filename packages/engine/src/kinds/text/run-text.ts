import { defined, type Node, secretKeys, type TaskNode, type TextExecutor } from "@nova/workflow";
import { inputBefore } from "../../chain/item-input.ts";
import { offloadLargeValues, offloadWhole } from "../../context/offload.ts";
import { escapeReferences } from "../../context/references.ts";
import type { BlobRef } from "../../ports/blobs.ts";
import type { Turn } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import { noCode, type PipelineOutcome, type StepDraft, type TextMeans, type TextTask } from "../../ports/pipeline.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import type { NodeDefinition } from "../../protocol/definition.ts";
import { turnFacts } from "../../protocol/outcome.ts";
import type { TaskTime } from "../code/run-code.ts";
import { attemptsBefore, type JournalSite, PipelineEnded, StepJournal, TurnLost } from "../prompt/journal.ts";
import { commonMeans } from "../prompt/means.ts";
import { judgePipeline } from "../prompt/outcome.ts";
import { withInputKeys } from "../task/bound-keys.ts";
import type { Place } from "../task/place.ts";
import { nextAttempt } from "../task/retry.ts";
import { createNodeIo, type NodeIo } from "../task/run-io.ts";
import type { Produced } from "../task/run-task.ts";
import type { Task } from "../task/task.ts";
import { questionFor } from "./question.ts";

/**
 * Of a task whose value a model writes, each time that it runs, without a sandbox: takes the turn, asks, or finds what an
 * earlier delivery was answered, and commits. `"again"`: read the chain anew.
 */
export async function textPass(ports: Ports, task: Task, { signal }: TaskTime): Promise<Produced> {
  const { position } = task;
  const asking = await prepare(ports, task);
  const earlier = await attemptsBefore(ports, position);
  const place = takeOrAdopt(ports, task);
  const site: JournalSite = { ports, position, place, io: asking.io };
  const journal = new StepJournal(site, earlier);
  try {
    await journal.adopt();
    const ending = await journal.ending();
    const told = ending ?? (await answerFrom(site, task, asking, journal, signal));
    if (!(await place.turnWritten)) throw new TurnLost();
    return await finish(site, task, asking, told, journal);
  } catch (error) {
    if (error instanceof TurnLost || error instanceof PipelineEnded) return "again";
    throw error;
  }
}

type Asking = Awaited<ReturnType<typeof prepare>>;

async function prepare(ports: Ports, { position, ...definition }: Task) {
  const { kept, input: found } = await inputBefore(ports, position);
  const input = await withInputKeys(ports, position, definition.node, definition.version.workflow, found);
  const io = await createNodeIo(ports, position, input, secretKeys(definition.version.workflow));
  const executor = textExecutorOf(definition.node);
  const mask = (text: string) => io.mask(text);
  return { executor, io, kept, question: await questionFor(ports, position, definition, executor, { input, mask }) };
}

/** What a text node would ask at a place; undefined of any other node. */
export async function promptHashAt(
  ports: Ports,
  position: Task["position"],
  definition: NodeDefinition,
): Promise<string | undefined> {
  const { node } = definition;
  if (!isTextNode(node)) return undefined;
  return (await prepare(ports, { ...definition, node, position })).question.asked;
}

export function isTextNode(node: Node | undefined): node is TaskNode {
  return node !== undefined && "executor" in node && node.executor.kind === "text";
}

function textExecutorOf({ id, executor }: TaskNode): TextExecutor {
  if (executor.kind === "text") return executor;
  throw new TypeError(`node "${id}" is no text node`);
}

/** The turn that is held, or the next one where there is none or an attempt has failed. It names no sandbox. */
function takeOrAdopt(ports: Ports, { position: { at, next }, node, retries = 0 }: Task): Place {
  const from = next.turn;
  const none = { sandbox: null, created: false };
  if (from && from.due === undefined) return { ...none, turn: from, turnWritten: Promise.resolve(true) };
  const turn: Turn = {
    ...{ node: node.id, state: "held", sandbox: null, attempt: (from?.attempt ?? 0) + 1 },
    since: new Date(ports.clock.now()).toISOString(),
    ...defined({ kept: from?.kept, failedDeliveries: from ? from.failedDeliveries : retries || undefined }),
  };
  const turnWritten = ports.chain.putTurn(at, turn, from ?? null);
  turnWritten.catch(() => undefined);
  return { ...none, turn, turnWritten };
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
    ...{ at: position.at, client: position.before.client, version: task.version, node, edges: task.edges },
    mask: (text) => io.mask(text),
    ...{ earlierUsd: journal.earlier.spent.cost_usd, spentUsd: position.before.spent?.cost_usd ?? 0 },
    ...{ system: question.system, prompt: question.prompt, record: question.record },
  };
  const next: TextMeans["journal"]["next"] = (work) =>
    journal.next(async (at) => slimStep(await work(at), executor, io));
  return site.ports.pipeline.answer(asked, { ...commonMeans(site, journal, signal), journal: { next } });
}

/** An answer may be long: what the step and the context keep of it refers to a blob then. */
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

async function finish(
  { ports, position, place, io }: JournalSite,
  task: Task,
  { question, kept }: Asking,
  said: PipelineOutcome,
  journal: StepJournal,
): Promise<Produced> {
  // A success follows from the steps; a failure may have reasons of this delivery alone.
  const told = said.status === "failed" ? await journal.end(said) : said;
  if (!told) return "again";
  const facts = { ...turnFacts(place.turn), sandboxId: null, warm: position.before.warm };
  const outcome = await judgePipeline(task, told, journal, io, facts);
  const asked = { ...outcome, more: { ...outcome.more, asked: question.asked } };
  const next = asked.status === "failed" && (await nextAttempt(ports, task, place.turn, asked, null));
  return next || commitOutcome(ports, position, task.node, asked, kept);
}
