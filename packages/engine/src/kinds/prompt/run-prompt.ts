import { secretKeys } from "@nova/workflow";
import type { LoadedContext } from "../../chain/position.ts";
import type { Turn } from "../../ports/chain.ts";
import type { Ports } from "../../ports/index.ts";
import type { PinnedCode, PipelineOutcome, PromptTask } from "../../ports/pipeline.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import { withoutPool } from "../../protocol/held-turn.ts";
import { turnFacts } from "../../protocol/outcome.ts";
import type { Reason } from "../../protocol/settling.ts";
import type { TaskTime } from "../code/run-code.ts";
import {
  adoptTurn,
  canChangeSandbox,
  dropUnlessNamed,
  lostReason,
  moveTurn,
  type Place,
  takeTurn,
  warmOf,
  warmWithout,
} from "../task/place.ts";
import { addressesFor, allowedFor } from "../task/reach.ts";
import { isRepeatable, nextAttempt } from "../task/retry.ts";
import { createNodeIo, type NodeIo } from "../task/run-io.ts";
import type { Produced } from "../task/run-task.ts";
import { noStep, stopCode } from "../task/stopped-turn.ts";
import { type Task, type TaskInput, taskInput } from "../task/task.ts";
import { overdueReason } from "../task/time-limit.ts";
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

/** Of a task whose code a model writes: takes the turn, lets the pipeline do or repeat its steps, commits. `"again"`: read the chain anew. */
export async function promptPass(ports: Ports, task: Task, { signal }: TaskTime): Promise<Produced> {
  const { position, version } = task;
  const found = await taskInput(ports, task);
  const { kept, input, overlay } = found;
  const io = await createNodeIo(ports, position, input, secretKeys(version.workflow), overlay);
  const earlier = await attemptsBefore(ports, position);
  const asked = promptTask(task, found, io, earlier);
  const { place, pinned } = await beginOrAdopt(ports, task, asked, allowedFor(task, overlay));
  const site: JournalSite = { ports, position, place, io };
  const journal = new StepJournal(site, earlier);
  const isFirst = !position.next.turn?.sandbox;
  try {
    if (!isFirst) await journal.adopt();
    const means = meansFor(site, task, found, journal, { isFirst, signal });
    const ending = isFirst ? null : await journal.ending();
    const told = ending ?? (await ports.pipeline.run(asked, means, pinned));
    if (!(await place.turnWritten)) throw new TurnLost();
    return await finish(site, { ...task, kept }, told, journal);
  } catch (error) {
    return recover(site, task, journal, error);
  }
}

async function finish(
  { ports, position, place, io }: JournalSite,
  task: Task & { kept: LoadedContext },
  said: PipelineOutcome,
  journal: StepJournal,
): Promise<Produced> {
  const { node } = task;
  // A success follows from the steps; a failure may have reasons of this delivery alone, and another one runs code.
  const told = said.status === "failed" ? await journal.end(said) : said;
  if (!told) return "again";
  const stopped = told.status === "failed" ? await stopCode(ports, position, place.turn, io, noStep) : null;
  // Code that was killed by another delivery, or here, leaves a sandbox for this execution alone.
  const isClean = told.status === "success" && !position.next.turn?.sandbox;
  const warm = stopped?.kind === "gone" ? null : isClean ? warmOf(task, place) : withoutPool(warmOf(task, place));
  const outcome = await judgePipeline(task, told, journal, io, { ...turnFacts(place.turn), warm });
  const next = outcome.status === "failed" && (await nextAttempt(ports, task, place.turn, outcome, null));
  if (next) return next;
  const entry = await commitOutcome(ports, position, node, outcome, task.kept);
  if (node.isolation === "fresh") await ports.sandboxes.kill(place.turn.sandbox as string);
  // The turn may have moved meanwhile: the entry is answered as it is read, beside its turn.
  return isRepeatable(node) ? "again" : entry;
}

/** Pinned code is chosen once, by the delivery that takes the turn. */
async function beginOrAdopt(
  ports: Ports,
  task: Task,
  asked: PromptTask,
  allow: readonly string[] | undefined,
): Promise<{ place: Place; pinned: PinnedCode | null }> {
  const { turn } = task.position.next;
  if (turn?.sandbox) {
    const pinned = turn.generation === undefined ? null : await ports.pipeline.generation(asked, turn.generation);
    return { place: adoptTurn(turn, task), pinned };
  }
  const pinned = await ports.pipeline.pinned(asked);
  const hit = pinned && { seconds: task.node.timeoutSeconds, generation: pinned.generation };
  return { place: await takeTurn(ports, task, { ...hit, ...(await addressesFor(ports, allow)) }), pinned };
}

async function recover(
  { ports, place }: JournalSite,
  task: Task,
  journal: StepJournal,
  error: unknown,
): Promise<Produced> {
  const isLost = error instanceof CodeLost;
  if (isLost && (await place.turnWritten)) {
    await journal.load();
    // Another delivery has recorded what the code here was to find out.
    if (journal.isRecorded(error.journal)) return "again";
    if (error.timeoutSeconds === undefined) return replaceSandbox(ports, task, place.turn, journal);
    // No sandbox decides how long its node takes; what is not dead by now may have had any effect.
    await ports.sandboxes.kill(place.turn.sandbox as string);
    return endWith(ports, task, place.turn, overdueReason(error.timeoutSeconds));
  }
  if (error instanceof PipelineEnded) return "again";
  if (!(error instanceof TurnLost || isLost)) throw error;
  if (place.created) await dropUnlessNamed(ports, task.position, place.turn);
  return "again";
}

/** The sandbox that the turn names is gone: with `effects: false` the pipeline goes on in another one. */
async function replaceSandbox(ports: Ports, task: Task, turn: Turn, journal: StepJournal): Promise<Produced> {
  if (canChangeSandbox(task.node, turn)) {
    await moveTurn(ports, task, { ...turn, kept: [...(turn.kept ?? []), journal.steps.length] });
    return "again";
  }
  return endWith(ports, task, turn, lostReason(turn));
}

async function endWith(ports: Ports, task: Task, turn: Turn, reason: Reason): Promise<Produced> {
  const why = { reason, warm: warmWithout(task), logs: "" };
  const outcome = await stoppedOutcome(ports, { ...task, turn }, why);
  const next = await nextAttempt(ports, task, turn, outcome, null);
  return next ?? commitOutcome(ports, task.position, task.node, outcome);
}

function promptTask(
  { position, node, version, edges }: Task,
  { input, overlay }: TaskInput,
  io: NodeIo,
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
