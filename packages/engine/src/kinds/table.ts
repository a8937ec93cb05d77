import { type EndNode, joinOf, type Node, type TaskNode } from "@nova/workflow";
import { atOnce } from "../at-once.ts";
import { agentExecutor, runsCode, talkHashAt } from "../attempt/agent/run-agent.ts";
import { codeExecutor, tenSeconds } from "../attempt/code.ts";
import { promptExecutor } from "../attempt/prompt/run-prompt.ts";
import { type Executor, runAttempts, type TaskTime } from "../attempt/run-attempts.ts";
import { promptHashAt, textExecutor } from "../attempt/text.ts";
import { headOf, type Plan } from "../chain/entry.ts";
import type { Position } from "../chain/position.ts";
import { chainBroken } from "../errors.ts";
import type { EntryId, StoredEntry, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { type MapEvent, type SettleAnswer, settleAnswer } from "../protocol/answer.ts";
import { branchState, findOpenedFork, type OpenFork, readTips, type Tip } from "../protocol/branches.ts";
import { closeBranches, closeExecution, settlingPorts } from "../protocol/close.ts";
import { commitOutcome } from "../protocol/commit.ts";
import {
  definitionOf,
  type HeldNode,
  type KindPorts,
  type NodeDefinition,
  type Reason,
  reasonOf,
  type SettlingPorts,
} from "../protocol/definition.ts";
import * as runs from "../protocol/end-runs.ts";
import type {
  CaughtError,
  EndAnswer,
  NodeEvent,
  RunningAnswer,
  RunPosition,
  TaskAnswer,
  WaitEvent,
} from "../protocol/event.ts";
import { buildSuccess, factsWithoutCode } from "../protocol/outcome.ts";
import { findRecordedReply } from "../protocol/recorded.ts";
import { settleJoin } from "../protocol/settle-join.ts";
import {
  closedError,
  commitRestOfBranch,
  entryIdAfter,
  runUntilCommitted,
  settleEntry,
  settleNodeEntry,
} from "../protocol/turn.ts";
import { type ChildAnswer, describeChildWait, hasInnerPlaces, runChild, settleChild } from "./child/run-child.ts";
import { runMap, settleMap } from "./map/run-map.ts";
import * as waiting from "./waiting/request.ts";
import { resumeUrl } from "./waiting/resume.ts";
import * as tasks from "./waiting/sweep-tasks.ts";
import { expiredEntry, settleWaiting } from "./waiting/sweep-tasks.ts";
import { describeWait, runWait, type WaitAnswer } from "./waiting/wait.ts";
import type { WaitsFor } from "./waiting/waiting-task.ts";

export type NodeAnswer = TaskAnswer | EndAnswer | WaitAnswer | ChildAnswer | RunningAnswer;

interface Kind<N extends Node> {
  runNodeTask(
    ports: KindPorts,
    event: WaitEvent & MapEvent,
    definition: NodeDefinition<N>,
    time: TaskTime,
  ): Promise<NodeAnswer>;
  settle(ports: SettlingPorts, held: HeldNode<N>, reason: Reason): Promise<StoredEntry>;
  /** Describes the wait of a held turn. Absent if nodes of the kind never wait. */
  waitsFor?(ports: Ports, node: N, at: EntryId, turn: Turn): Promise<WaitsFor | null>;
  /** The result of `KindPorts.staysInside` for nodes of this kind. Absent: false. */
  staysInside?(ports: Ports, position: Position, plan: Plan, node: N): Promise<boolean>;
}

/** Executors do the work of an attempt. The steps around that work are the same for actions and decisions. */
const executors: Record<TaskNode["executor"]["kind"], Executor> = {
  code: codeExecutor,
  prompt: promptExecutor,
  text: textExecutor,
};

function executorOf({ type, executor }: TaskNode): Executor {
  return type === "agent" ? agentExecutor : executors[executor.kind];
}

const task: Kind<TaskNode> = {
  runNodeTask: (ports, event, definition, time) =>
    runAttempts(ports, event, definition, executorOf(definition.node), time),
  settle: (ports, held, reason) => executorOf(held.node).settle(ports, held, reason),
  // A text node asks a model, so it may not run even if it declares no effects.
  staysInside: async (_ports, _position, _plan, { effects, executor }) => effects === false && executor.kind !== "text",
};

const kinds: { [T in Node["type"]]: Kind<Extract<Node, { type: T }>> } = {
  start: { runNodeTask: noTask, settle: noTurn },
  action: task,
  decision: task,
  agent: {
    ...task,
    staysInside: async (ports, position, _plan, node) =>
      (await runsCode(ports, position, node)) || (await findRecordedReply(ports, position, node)) !== undefined,
  },
  map: { runNodeTask: runMap, settle: settleMap, staysInside: async () => true },
  approval: { runNodeTask: noTask, settle: settleWaiting, waitsFor: describeWait },
  wait: { runNodeTask: runWait, settle: settleWaiting, waitsFor: describeWait },
  workflow: { runNodeTask: runChild, settle: settleChild, waitsFor: describeChildWait, staysInside: hasInnerPlaces },
  end: { runNodeTask: runEnd, settle: noTurn },
};

export const nodeKinds = kinds as Readonly<Record<Node["type"], Kind<Node>>>;

export function withKinds(ports: Ports): KindPorts {
  const all: KindPorts = {
    ...ports,
    holdsTurn: (node) => nodeKinds[node.type].settle !== noTurn,
    settleTurn: (settling, held, reason) => nodeKinds[held.node.type].settle(settling, held, reason),
    asked: async (position, { node, ...definition }) =>
      node.type === "agent"
        ? talkHashAt(all, { ...definition, node, position })
        : promptHashAt(all, position, { ...definition, node }),
    resumeUrl: (position, node) => resumeUrl(ports, position, node),
    staysInside: async (position, plan, node) =>
      (await nodeKinds[node.type].staysInside?.(ports, position, plan, node)) ?? false,
  };
  return all;
}

/**
 * Throws an error for a node that this task never runs: a start node has no task, and an approval has a task of
 * another kind.
 */
async function noTask(_ports: unknown, _event: unknown, { node }: NodeDefinition): Promise<never> {
  throw chainBroken(`${node.type} node "${node.id}" is no task that runs`);
}

async function noTurn(_ports: unknown, { node }: NodeDefinition): Promise<never> {
  throw chainBroken(`${node.type} node "${node.id}" cannot hold a turn`);
}

/**
 * Runs the task of one node (docs/protocol.md). If the outcome is committed, a delivery returns it and runs nothing;
 * otherwise the node runs once for all deliveries. Throws `NovaError`s, which Retry and Catch of the state machine
 * match. `signal` fires when the time of the Lambda is nearly over. `followTime` limits how long a delivery waits for
 * code that may outlive its Lambda.
 */
export function runNode(
  ports: Ports,
  event: WaitEvent,
  signal: AbortSignal,
  { followTime = tenSeconds }: { followTime?: TaskTime["followTime"] } = {},
): Promise<NodeAnswer> {
  return ports.inFlight.during(event.execution.id, async () => {
    const all = withKinds(ports);
    const definition = await definitionOf(ports, event);
    return nodeKinds[definition.node.type].runNodeTask(all, event, definition, { signal, followTime });
  });
}

/** The input of a settle task. It names a node whose task failed, or an approval that no person answered in time. */
export type SettleEvent = MapEvent & ({ error: CaughtError } | { expired: true });

/**
 * Settles a node whose task failed. The chain says whether the node failed; the report of Step Functions does not
 * count. Throws `ExecutionClosed` if the run was closed, and `ChainBroken` if the chain does not fit the event.
 */
export async function settleNode(ports: Ports, event: SettleEvent): Promise<SettleAnswer> {
  const settling =
    "expired" in event
      ? expiredEntry(withKinds(ports), event)
      : settleNodeEntry(settlingPorts(withKinds(ports)), event, reasonOf(event.error));
  return settleAnswer(ports, event, await settling);
}

/** Closes the run, in every delivery of the end node. Throws if the run was already closed with another status. */
async function runEnd(ports: KindPorts, event: NodeEvent, { node }: NodeDefinition<EndNode>) {
  const entry = await runUntilCommitted(ports, event, (position) => {
    const outcome = buildSuccess(null, factsWithoutCode(ports, undefined, position.before));
    return commitOutcome(ports, position, node, outcome);
  });
  const { execution, scope } = event;
  const head = headOf(entry);
  const at = entryIdAfter(event);
  const tip: Tip = { link: { seq: at.seq }, entry, head, next: { ...at, seq: at.seq + 1 }, turn: undefined };
  const close = await closeExecution(ports, { execution: execution.id, status: "completed" }, tip);
  if (close.status !== "completed") throw closedError(execution.id);
  return { execution, scope, seq: at.seq, status: "completed" as const, tip: close.tip };
}

/**
 * The input of the task that joins a fork's branches. `at` is the state of Step Functions; after a Catch it also has
 * the `error`.
 */
export interface JoinEvent {
  join: string;
  at: RunPosition & { error?: CaughtError };
}

/**
 * Joins the branches of a fork. The chain says whether the branches succeeded; the report of Step Functions does not
 * count. Throws `ExecutionClosed` if the run was closed, and `ChainBroken` if the chain does not fit the event.
 */
export async function joinFork(ports: Ports, { join: fork, at: { error, ...run } }: JoinEvent): Promise<SettleAnswer> {
  const entry = await settleEntry(ports, { ...run, node: joinOf(fork) }, async (position) => {
    const open = await findOpenedFork(ports, position.beforeEntry);
    if (open?.fork.node === fork) return joinBranches(ports, position, open, error && reasonOf(error));
    throw chainBroken(`link ${run.seq} of ${run.execution.id}${run.scope} is not the fork "${fork}"`);
  });
  return settleAnswer(ports, run, entry);
}

const stopped: Reason = { class: "ExecutionClosed", message: "it was stopped because another branch failed" };

async function joinBranches(ports: Ports, position: Position, open: OpenFork, reason: Reason | undefined) {
  const scopes = open.branches.map(({ scope }) => scope);
  const tips = await readTips(ports, open, scopes);
  const underWay = tips.findIndex((tip) => branchState(open, tip) === "under way");
  if (underWay < 0) return settleJoin(ports, position, open, tips, reason ?? stopped);
  if (!reason) {
    const { name } = open.branches[underWay] as OpenFork["branches"][number];
    throw chainBroken(`branch "${name}" of fork "${open.fork.node}" is joined before it has ended`);
  }
  if (position.before.visits) {
    const kinds = withKinds(ports);
    const stoppedEarly = tips.filter((tip) => branchState(open, tip) === "under way");
    await atOnce(stoppedEarly, ({ next }) => commitRestOfBranch(kinds, open, next.scope));
  }
  return settleJoin(ports, position, open, await closeBranches(settlingPorts(withKinds(ports)), open, stopped), reason);
}

function forAllKinds<Rest extends unknown[], Answer>(work: (ports: KindPorts, ...rest: Rest) => Answer) {
  return (ports: Ports, ...rest: Rest): Answer => work(withKinds(ports), ...rest);
}

export const cancelExecution = forAllKinds(runs.cancelExecution);
export const failExecution = forAllKinds(runs.failExecution);
export const executionEnded = forAllKinds(runs.executionEnded);
export const sweepRuns = forAllKinds(runs.sweepRuns);
export const requestApproval = forAllKinds(waiting.requestApproval);
export const sweepTasks = forAllKinds(tasks.sweepTasks);

export interface Swept extends runs.SweptRuns {
  tasks: tasks.SweptTasks;
}

export async function sweep(ports: Ports, time: runs.TimeBudget = runs.endless): Promise<Swept> {
  const { open, ...swept } = await sweepRuns(ports, time);
  return { ...swept, tasks: await sweepTasks(ports, open, time) };
}
