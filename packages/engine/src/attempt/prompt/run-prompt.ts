import { defined, RawJson, renderJson, secretKeys, type TaskNode } from "@nova/workflow";
import { sumOfSpendings, unlessNothing } from "../../chain/spending.ts";
import { journalOf, replayedStep } from "../../chain/step-record.ts";
import type { Ports } from "../../ports/index.ts";
import {
  type JournalStep,
  type PinnedAnalysis,
  type PinnedCode,
  type PipelineOutcome,
  type PromptTask,
  pinnedPlaces,
} from "../../ports/pipeline.ts";
import { commitOutcome } from "../../protocol/commit.ts";
import type { HeldNode, KindPorts, Reason, SettlingPorts } from "../../protocol/definition.ts";
import {
  buildFailure,
  type FailedOutcome,
  heldMs,
  type MoreFacts,
  type Outcome,
  type RunFacts,
} from "../../protocol/outcome.ts";
import { moveSandboxes, withoutPool } from "../../sandboxes/life.ts";
import { sha256 } from "../../sha256.ts";
import { addressesFor, allowedFor, lostReason, overdueReason } from "../code.ts";
import { judge, turnFacts, warmAfter } from "../judge.ts";
import { canChangeSandbox, changeSandbox } from "../retry.ts";
import type { Delivery, Executor, FinishedWork, Prepared, Work } from "../run-attempts.ts";
import { noStep, stopCode, stopTurn } from "../stop.ts";
import { type Task, type TaskInput, taskInput } from "../task-input.ts";
import {
  attemptsBefore,
  CodeLost,
  type Earlier,
  earlierOf,
  type JournalSite,
  PipelineEnded,
  StepJournal,
  TurnLost,
} from "./journal.ts";
import { meansFor } from "./means.ts";

/**
 * Runs a node whose code a model writes. Each step of the pipeline runs once, and later deliveries replay the record of
 * the step.
 */
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

/**
 * Prepares the pipeline. Only the delivery that takes the turn chooses pinned code; later deliveries use the same code.
 */
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

async function runPipeline(delivery: Delivery, prepared: PreparedPrompt): Promise<Work> {
  const { ports, task, attempt } = delivery;
  const { io, asked, earlier, chosen } = prepared;
  const { generation } = attempt.turn;
  const pinned =
    chosen.pinned ?? (generation === undefined ? null : await ports.pipeline.generation(asked, generation));
  const site: JournalSite = { ...delivery, io };
  const journal = new StepJournal(site, earlier);
  const isFirst = !task.position.next.turn?.sandbox;
  try {
    if (!isFirst) await journal.adopt();
    const means = meansFor(site, prepared, journal, isFirst);
    const ending = isFirst ? null : await journal.ending();
    const result = ending ?? (await ports.pipeline.run(asked, means, pinned));
    if (!(await attempt.turnWritten)) throw new TurnLost();
    return await finishWith(site, result, journal);
  } catch (error) {
    return recover(site, journal, error);
  }
}

async function finishWith(site: JournalSite, found: PipelineOutcome, journal: StepJournal): Promise<Work> {
  const { ports, task, attempt, io } = site;
  const { position } = task;
  // Every delivery computes the same success from the recorded steps. A failure may occur in this delivery alone, so it
  // counts only after it is recorded.
  const result = found.status === "failed" ? await journal.end(found) : found;
  if (!result) return { kind: "again" };
  const stopped = result.status === "failed" ? await stopCode(ports, position, attempt.turn, io, noStep) : null;
  // If the pipeline failed, or if an earlier delivery chose the sandbox, code in the sandbox may have been killed. No
  // other execution may use such a sandbox.
  const isClean = result.status === "success" && !position.next.turn?.sandbox;
  const own = warmAfter(task, attempt.sandbox);
  const warm = stopped?.kind === "gone" ? null : isClean ? own : withoutPool(own);
  const outcome = await judgePipeline(site, result, journal, { ...turnFacts(attempt.turn), warm });
  return { kind: "finished", outcome, reusable: null, lives: true };
}

async function recover(site: JournalSite, journal: StepJournal, error: unknown): Promise<Work> {
  const { ports, attempt } = site;
  const isLost = error instanceof CodeLost;
  if (isLost && (await attempt.turnWritten)) {
    await journal.load();
    // Another delivery has recorded the result that this delivery lost.
    if (journal.isRecorded(error.journal)) return { kind: "again" };
    if (error.timeoutSeconds === undefined) return replaceSandbox(site, journal);
    // The code may still run and have effects, so its sandbox is killed.
    await moveSandboxes(ports, "in use", "turn left", [attempt.turn.sandbox as string]);
    return failWith(site, overdueReason(error.timeoutSeconds));
  }
  if (error instanceof PipelineEnded) return { kind: "again" };
  if (!(error instanceof TurnLost || isLost)) throw error;
  return { kind: "turn lost" };
}

/**
 * Handles the loss of the sandbox that the turn names. With `effects: false` the pipeline continues in another sandbox;
 * otherwise the node fails.
 */
async function replaceSandbox(site: JournalSite, journal: StepJournal): Promise<Work> {
  const { ports, task, attempt } = site;
  const { turn } = attempt;
  if (!canChangeSandbox(task.node, turn)) return failWith(site, lostReason(turn));
  await changeSandbox(ports, task, { ...turn, kept: [...(turn.kept ?? []), journal.steps.length] });
  return { kind: "again" };
}

async function failWith({ ports, task, attempt }: JournalSite, reason: Reason): Promise<FinishedWork> {
  const held = { ...task, turn: attempt.turn };
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

/**
 * Writes the failed entry of the node, with the steps that were recorded. The entry does not use a result of the node's
 * code, because only the pipeline can judge such a result.
 */
export async function settlePrompt(ports: SettlingPorts, held: HeldNode<TaskNode>, reason: Reason) {
  const { kept, ...stopped } = await stopTurn(ports, held, reason, noStep);
  return commitOutcome(ports, held.position, held.node, await stoppedOutcome(ports, held, stopped), kept);
}

/**
 * Builds the outcome of a node from the result of its pipeline. A success is judged like the result of code that an
 * author wrote.
 */
export async function judgePipeline(
  { task, io }: JournalSite,
  result: PipelineOutcome,
  journal: StepJournal,
  run: Omit<RunFacts, "code">,
): Promise<Outcome> {
  const code = (result.status === "failed" ? lastCode(journal.steps) : null) ?? result.code;
  const facts = { ...run, code: hashOf(code) };
  const outcome: Outcome =
    result.status === "success"
      ? await judge(task, result.result, io, facts)
      : buildFailure(task, result, {
          logs: result.logs ?? "",
          executionTimeMs: journal.pinnedMs(pinnedPlaces.code),
          run: facts,
        });
  const stepsMs = journal.steps.reduce((sum, { execution_time_ms }) => sum + execution_time_ms, 0);
  // The runs of pinned code have no step, so the entry itself counts their time.
  const hitMs = outcome.executionTimeMs + journal.pinnedMs(pinnedPlaces.analysis);
  const executionTimeMs = stepsMs + (result.cacheHit ? hitMs : 0);
  return { ...outcome, executionTimeMs, more: { ...outcome.more, ...moreOf(task, { ...result, code }, journal) } };
}

function moreOf(task: Task, result: PipelineOutcome, journal: StepJournal): MoreFacts {
  const { code, generation, cacheHit, analysis } = result;
  const { earlier } = journal;
  const spent = unlessNothing(sumOfSpendings([earlier.spent, ...journal.steps]));
  const contents = { ...codeContent(task, code), ...(analysis && analysisContents(task, analysis, journal)) };
  const facts = { steps: [...earlier.steps, ...journal.hashes], cacheHit, contents, spent };
  return defined({ ...facts, generation: generation ?? undefined, analysis: analysis && sha256(analysis.code) });
}

/** The hash of code; null if there is none. An empty text is code, too: a model may write one. */
function hashOf(code: string | null): string | null {
  return code === null ? null : sha256(code);
}

/**
 * Returns the code that the entry stores. Leaves out code that the definition has locked, because the hash of that code
 * is enough.
 */
function codeContent({ node, version }: Pick<Task, "node" | "version">, code: string | null) {
  if (code === null || version.workflow.lock?.[node.id]?.code === code) return {};
  return { code };
}

/** Returns the code and the findings of the analysis that ran before pinned code. No step records them. */
function analysisContents({ node, version }: Task, { code, json }: PinnedAnalysis, journal: StepJournal) {
  const isLocked = version.workflow.lock?.[node.id]?.analysis === code;
  const executionMs = journal.pinnedMs(pinnedPlaces.analysis);
  return {
    ...(!isLocked && { analysis_code: code }),
    ...(json !== null && { analysis: renderJson({ result: new RawJson(json), execution_time_ms: executionMs }) }),
  };
}

/**
 * The last code that a model wrote for a failed node. Code of an analysis does not count, because it only looks at the
 * data.
 */
function lastCode(steps: readonly JournalStep[]): string | null {
  const written = steps.findLast(
    ({ generated_code: code, agent_name }) => code !== null && agent_name !== "DataAnalyzer",
  );
  return written?.generated_code ?? null;
}

async function stoppedOutcome(
  ports: Ports,
  held: HeldNode<TaskNode>,
  { reason, warm, logs }: { reason: Reason; warm: RunFacts["warm"]; logs: string },
): Promise<FailedOutcome> {
  const { turn, position } = held;
  const { before, at } = position;
  const all = await ports.chain.steps(at);
  const stored = journalOf(turn, all);
  const earlier = earlierOf(turn, all);
  const steps = await Promise.all(stored.map((step, i) => replayedStep(i + 1, step, before, ports.blobs)));
  const code = lastCode(steps);
  const spent = unlessNothing(sumOfSpendings([earlier.spent, ...steps]));
  return buildFailure(held, reason, {
    logs,
    executionTimeMs: turn.due === undefined ? heldMs(ports, turn) : 0,
    run: { ...turnFacts(turn), warm, code: hashOf(code) },
    more: defined({
      steps: [...earlier.steps, ...stored.map(({ hash }) => hash)],
      generation: steps.length === 0 ? turn.generation : undefined,
      spent,
      contents: codeContent(held, code),
    }),
  });
}
