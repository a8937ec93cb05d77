import { defined, isLong, pauseSeconds, type TaskNode } from "@nova/workflow";
import { headOf } from "../chain/entry.ts";
import type { LoadedContext, Position } from "../chain/position.ts";
import type { StoredEntry, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { Sandbox } from "../ports/sandboxes.ts";
import { answerFor } from "../protocol/answer.ts";
import { commitOutcome } from "../protocol/commit.ts";
import type { HeldNode, KindPorts, NodeDefinition, Reason, SettlingPorts } from "../protocol/definition.ts";
import type { NodeEvent, RunningAnswer, TaskAnswer } from "../protocol/event.ts";
import type { Outcome } from "../protocol/outcome.ts";
import { runUntilCommitted } from "../protocol/turn.ts";
import {
  type ChosenSandbox,
  chooseSandbox,
  knownSandbox,
  moveSandboxes,
  releaseLost,
  warmBefore,
} from "../sandboxes/life.ts";
import { wantedSandbox } from "../sandboxes/spec.ts";
import { isEarly, nextAttempt, retryText, waitForRetry } from "./retry.ts";
import type { Task } from "./task-input.ts";

/**
 * Returns a signal that limits how long a delivery waits for code that may outlive its Lambda. When the signal fires,
 * the delivery stops waiting, and the next delivery waits for the code.
 */
export type FollowTime = () => AbortSignal;

export interface TaskTime {
  /** Fires when the Lambda's time is nearly over. */
  signal: AbortSignal;
  followTime: FollowTime;
}

/** One delivery of the task of a node, which has opened an attempt or continues one. */
export interface Delivery<N extends TaskNode = TaskNode> {
  ports: KindPorts;
  task: Task<N>;
  attempt: Attempt;
  time: TaskTime;
}

export interface Prepared {
  kept: LoadedContext;
  /** Returns what a new turn needs. Absent: the node runs no code, so it needs no sandbox. */
  findNeeds?: () => Promise<SandboxNeeds>;
}

export type Work =
  /** Another delivery has written to the chain meanwhile, so the caller reads the chain again. */
  | { kind: "again" }
  /** Another delivery holds the turn, so the sandbox that this delivery chose is released. */
  | { kind: "turn lost" }
  /** The code still runs; a later delivery attaches to it. */
  | { kind: "running" }
  | FinishedWork;

export interface FinishedWork {
  kind: "finished";
  outcome: Outcome;
  /** The sandbox, if the next attempt may start in this sandbox; otherwise null. */
  reusable: Sandbox | null;
  lives: boolean;
}

/**
 * The parts of an attempt that differ between nodes with code, a prompt or a text prompt. All other steps are the same.
 */
export interface Executor<P extends Prepared = Prepared, N extends TaskNode = TaskNode> {
  prepare(ports: KindPorts, task: Task<N>): Promise<P>;
  /** Runs code or asks a model, and judges the result. Attaches to work that an earlier delivery has started. */
  work(delivery: Delivery<N>, prepared: P): Promise<Work>;
  settle(ports: SettlingPorts, held: HeldNode<TaskNode>, reason: Reason): Promise<StoredEntry>;
}

export async function runAttempts(
  ports: KindPorts,
  event: NodeEvent,
  { node, version, edges }: NodeDefinition<TaskNode>,
  executor: Executor,
  time: TaskTime,
): Promise<TaskAnswer | RunningAnswer> {
  const entry = await runUntilCommitted(ports, event, async (position): Promise<StoredEntry | Turn | "again"> => {
    const { turn } = position.next;
    if (turn && isEarly(ports, turn)) return waitForRetry(node, turn);
    return runAttempt(ports, { position, node, version, edges, retries: event.retries }, executor, time);
  });
  return "since" in entry ? runningAnswer(ports, event, entry, node) : answerFor(entry, event, ports);
}

/**
 * Runs one attempt, or continues an attempt that another delivery has started. Returns the entry, or a turn that a
 * later delivery continues. `"again"`: the caller reads the chain again.
 */
async function runAttempt(ports: KindPorts, task: Task, executor: Executor, time: TaskTime) {
  const { position, node } = task;
  const prepared = await executor.prepare(ports, task);
  const attempt = await openAttempt(ports, task, prepared.findNeeds);
  const { turn, state } = attempt;
  const work = await executor.work({ ports, task, attempt, time }, prepared);
  switch (work.kind) {
    case "again":
      return "again";
    case "turn lost":
      await releaseLost(ports, position.at, { sandbox: turn.sandbox, state });
      return "again";
    case "running":
      return turn;
    case "finished": {
      const { outcome, reusable, lives } = work;
      const next = outcome.status === "failed" && (await nextAttempt(ports, task, turn, outcome, reusable));
      if (next) return next;
      const entry = await commitOutcome(ports, position, node, outcome, prepared.kept);
      const { sandbox } = turn;
      if (sandbox === null) return entry;
      // If two deliveries of long code have tried to commit, the written entry says whether the next node uses this
      // sandbox.
      const servesOneNode = node.isolation === "fresh" || (isLong(node) && headOf(entry).warm?.id !== sandbox);
      if (lives && servesOneNode) await moveSandboxes(ports, "in use", "node ended", [sandbox]);
      // If the code may start more than once, another delivery may have started it in another sandbox. So the caller
      // reads the entry and its turn again, and kills the sandbox that the entry does not name.
      const canRunAgain = node.effects === false || node.retry !== undefined;
      return canRunAgain ? "again" : entry;
    }
  }
}

function runningAnswer(ports: Ports, { execution, scope, seq }: NodeEvent, turn: Turn, node: TaskNode): RunningAnswer {
  const seconds = (from: number, to: number) => (to - from) / 1000;
  const now = ports.clock.now();
  const running = { execution, scope, seq, running: true } as const;
  if (turn.due === undefined)
    return { ...running, pause: pauseSeconds(seconds(Date.parse(turn.since), now), node.timeoutSeconds) };
  const pause = Math.max(1, Math.ceil(seconds(now, Date.parse(turn.due))));
  return { ...running, pause, retry: retryText(node, turn) };
}

export interface Attempt {
  turn: Turn;
  /**
   * The sandbox. Null if no code runs. Also null if another delivery chose the sandbox, and this delivery knows only
   * the id of the sandbox; then the next node gets another sandbox.
   */
  sandbox: Sandbox | null;
  /** The state of the sandbox until the turn is written. */
  state: ChosenSandbox["state"];
  /** Resolves to true once this delivery holds the turn. */
  turnWritten: Promise<boolean>;
}

export interface SandboxNeeds extends Pick<Turn, "generation" | "addresses"> {
  /** The longest time for which the node may need its sandbox. Absent: the time in its definition. */
  seconds?: number;
}

/**
 * Continues the attempt that is under way, in the sandbox that the held turn names. If no attempt is under way, this
 * function chooses a sandbox, and writes the turn while the caller uploads the input. Without `findNeeds` the node runs
 * no code and has no sandbox.
 */
export async function openAttempt(
  ports: Ports,
  { position, node, version, retries = 0 }: Task,
  findNeeds?: () => Promise<SandboxNeeds>,
): Promise<Attempt> {
  const { before, at, next } = position;
  const { turn: from } = next;
  // A turn that waits for its next attempt names no sandbox. For such a turn, the code below starts that attempt.
  if (from && (findNeeds ? from.sandbox !== null : from.due === undefined)) {
    const sandbox = findNeeds && !isLong(node) ? knownSandbox(from, warmBefore(position)) : null;
    return { turn: from, sandbox, state: "in use", turnWritten: Promise.resolve(true) };
  }
  const begunMs = ports.clock.now();
  const needs = await findNeeds?.();
  const chosen = needs && (await chooseSandbox(ports, position, wantedSandbox(position, node, version, needs.seconds)));
  const readyMs = ports.clock.now();
  const waitedFrom = Date.parse(from?.since ?? before.timestamp);
  const slotMs = chosen?.slotAtMs === undefined ? 0 : chosen.slotAtMs - begunMs;
  const turn: Turn = {
    node: node.id,
    state: "held",
    sandbox: chosen?.sandbox.id ?? null,
    attempt: (from?.attempt ?? 0) + 1,
    since: new Date(readyMs).toISOString(),
    times: {
      waiting_ms: (from?.times?.waiting_ms ?? 0) + Math.max(0, begunMs - waitedFrom) + slotMs,
      sandbox_ms: (from?.times?.sandbox_ms ?? 0) + (chosen ? Math.max(0, readyMs - begunMs - slotMs) : 0),
    },
    ...defined({
      generation: needs?.generation,
      kept: from?.kept,
      failedDeliveries: from ? from.failedDeliveries : retries || undefined,
      addresses: needs?.addresses,
      warm: chosen?.sandbox.pool && chosen.sandbox,
      spare: chosen?.spare ?? from?.spare,
      released: from?.released,
    }),
  };
  const turnWritten =
    from && chosen ? continueTurn(ports, position, turn, from) : ports.chain.putTurn(at, turn, from ?? null);
  // This handler prevents an unhandled rejection. Code that awaits the promise still gets the error.
  turnWritten.catch(() => undefined);
  return { turn, sandbox: chosen?.sandbox ?? null, state: chosen?.state ?? "in use", turnWritten };
}

/**
 * Writes the turn of the next attempt. Returns false if another delivery has changed the turn or committed the earlier
 * attempt meanwhile. Then the caller must release the sandbox that it chose, because no other delivery kills it.
 */
async function continueTurn({ chain }: Ports, { at }: Position, turn: Turn, from: Turn): Promise<boolean> {
  return (await chain.putTurn(at, turn, from)) && (await chain.read(at)).entry === undefined;
}
