import { secretKeys, type TaskNode } from "@nova/workflow";
import type { StoredEntry } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { PinnedCode, PipelineOutcome, PromptTask } from "../../ports/pipeline.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import type { HeldNode } from "../../protocol/definition.ts";
import type { KindPorts, Reason, SettlingPorts } from "../../protocol/settling.ts";
import { moveSandboxes, withoutPool } from "../../sandboxes/life.ts";
import { type Attempt, addressesFor, allowedFor, canChangeSandbox, changeSandbox } from "../acquire.ts";
import { lostReason, overdueReason } from "../code-run.ts";
import { turnFacts, warmAfter } from "../judge.ts";
import type { Executor, FinishedWork, Prepared, TaskTime, Work } from "../run-attempts.ts";
import { noStep, stopCode, stopTurn } from "../stop.ts";
import { type Task, type TaskInput, taskInput } from "../task-input.ts";
import {
  attemptsBefore,
  CodeLost,
  type Earlier,
  type JournalSite,
  PipelineEnded,
  StepJournal,
  TurnLost,
} from "./journal.ts";
import { meansFor } from "./means.ts";
import { judgePipeline, stoppedOutcome } from "./outcome.ts";

/** A node whose code a model writes: the steps of a pipeline, each done once and repeated from its record. */
export const promptExecutor: Executor<PreparedPrompt> = {
  prepare: preparePrompt,
  work: runPipeline,
  settle: settlePrompt,
};

interface PreparedPrompt extends Prepared, TaskInput {
  asked: PromptTask;
  earlier: Earlier;
  /** Pinned code that this delivery chose for a new turn. */
  chosen: { pinned?: PinnedCode | null };
}

/** Pinned code is chosen once, by the delivery that takes the turn. */
async function preparePrompt(ports: KindPorts, task: Task): Promise<PreparedPrompt> {
  const found = await taskInput(ports, task);
  const earlier = await attemptsBefore(ports, task.position);
  const asked = promptTask(task, found, earlier);
  const chosen: PreparedPrompt["chosen"] = {};
  const findNeeds = async () => {
    const pinned = await ports.pipeline.pinned(asked);
    chosen.pinned = pinned;
    const addresses = await addressesFor(ports, allowedFor(task, found.overlay));
    return pinned ? { ...addresses, seconds: task.node.timeoutSeconds, generation: pinned.generation } : addresses;
  };
  return { ...found, findNeeds, asked, earlier, chosen };
}

async function runPipeline(
  ports: KindPorts,
  task: Task,
  attempt: Attempt,
  prepared: PreparedPrompt,
  { signal }: TaskTime,
): Promise<Work> {
  const { position } = task;
  const { io, asked, earlier, chosen } = prepared;
  const { generation } = attempt.turn;
  const pinned =
    chosen.pinned ?? (generation === undefined ? null : await ports.pipeline.generation(asked, generation));
  const site: JournalSite = { ports, position, attempt, io };
  const journal = new StepJournal(site, earlier);
  const isFirst = !position.next.turn?.sandbox;
  try {
    if (!isFirst) await journal.adopt();
    const means = meansFor(site, task, prepared, journal, { isFirst, signal });
    const ending = isFirst ? null : await journal.ending();
    const result = ending ?? (await ports.pipeline.run(asked, means, pinned));
    if (!(await attempt.turnWritten)) throw new TurnLost();
    return await finishWith(site, task, result, journal);
  } catch (error) {
    return recover(site, task, journal, error);
  }
}

async function finishWith(
  { ports, position, attempt, io }: JournalSite,
  task: Task,
  found: PipelineOutcome,
  journal: StepJournal,
): Promise<Work> {
  // A success follows from the steps. A failure may have reasons of this delivery alone, while another one runs code.
  const result = found.status === "failed" ? await journal.end(found) : found;
  if (!result) return { kind: "again" };
  const stopped = result.status === "failed" ? await stopCode(ports, position, attempt.turn, io, noStep) : null;
  // If code was killed, here or by another delivery, no other execution may use the sandbox.
  const isClean = result.status === "success" && !position.next.turn?.sandbox;
  const own = warmAfter(task, attempt.sandbox);
  const warm = stopped?.kind === "gone" ? null : isClean ? own : withoutPool(own);
  const outcome = await judgePipeline(task, result, journal, io, { ...turnFacts(attempt.turn), warm });
  return { kind: "finished", outcome, reusable: null, lives: true };
}

async function recover(
  { ports, position, attempt }: JournalSite,
  task: Task,
  journal: StepJournal,
  error: unknown,
): Promise<Work> {
  const isLost = error instanceof CodeLost;
  if (isLost && (await attempt.turnWritten)) {
    await journal.load();
    // Another delivery has recorded the result of the code that was lost here.
    if (journal.isRecorded(error.journal)) return { kind: "again" };
    if (error.timeoutSeconds === undefined) return replaceSandbox(ports, { ...task, position }, attempt.turn, journal);
    // Code that is not dead by now may have had any effect.
    await moveSandboxes(ports, "in use", "turn left", [attempt.turn.sandbox as string]);
    return failWith(ports, { ...task, turn: attempt.turn }, overdueReason(error.timeoutSeconds));
  }
  if (error instanceof PipelineEnded) return { kind: "again" };
  if (!(error instanceof TurnLost || isLost)) throw error;
  return { kind: "turn lost" };
}

/** The sandbox that the turn names is gone: with `effects: false` the pipeline continues in another one. */
async function replaceSandbox(ports: Ports, task: Task, turn: HeldNode["turn"], journal: StepJournal): Promise<Work> {
  if (!canChangeSandbox(task.node, turn)) return failWith(ports, { ...task, turn }, lostReason(turn));
  await changeSandbox(ports, task, { ...turn, kept: [...(turn.kept ?? []), journal.steps.length] });
  return { kind: "again" };
}

async function failWith(ports: Ports, held: HeldNode<TaskNode>, reason: Reason): Promise<FinishedWork> {
  const outcome = await stoppedOutcome(ports, held, { reason, warm: warmAfter(held, null), logs: "" });
  return { kind: "finished", outcome, reusable: null, lives: false };
}

function promptTask(
  { position, node, version, edges }: Task,
  { input, overlay, io }: TaskInput,
  { spent }: Earlier,
): PromptTask {
  const { before, at } = position;
  return {
    at,
    client: before.client,
    version,
    node,
    edges,
    input: input.slots(),
    secrets: secretKeys(version.workflow),
    credentials: new Set(overlay.members.map(({ key }) => key)),
    mask: (text) => io.mask(text),
    frozen: before.frozen === true || version.workflow.models === false,
    fresh: before.fresh?.includes(node.id) ?? false,
    earlierUsd: spent.cost_usd,
    spentUsd: before.spent?.cost_usd ?? 0,
  };
}

/** Fails the node, with the steps that were recorded: no claim answers for it. */
export async function settlePrompt(
  ports: SettlingPorts,
  held: HeldNode<TaskNode>,
  reason: Reason,
): Promise<StoredEntry> {
  const { kept, ...stopped } = await stopTurn(ports, held, reason, noStep);
  return commitOutcome(ports, held.position, held.node, await stoppedOutcome(ports, held, stopped), kept);
}
