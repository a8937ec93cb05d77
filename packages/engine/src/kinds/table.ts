import type { Node, TaskNode } from "@nova/workflow";
import { codeExecutor } from "../attempt/code.ts";
import { tenSeconds } from "../attempt/code-run.ts";
import { promptExecutor } from "../attempt/prompt/run-prompt.ts";
import { type Executor, runAttempts, type TaskTime } from "../attempt/run-attempts.ts";
import { promptHashAt, textExecutor } from "../attempt/text/run-text.ts";
import type { Plan } from "../chain/head.ts";
import type { Position } from "../chain/position.ts";
import { chainBroken } from "../errors.ts";
import type { LinkId, StoredEntry, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import { type MapEvent, type SettleAnswer, settleAnswer } from "../protocol/answer.ts";
import { settlingPorts } from "../protocol/close.ts";
import { definitionOf, type HeldNode, type NodeDefinition } from "../protocol/definition.ts";
import type { CaughtError, EndAnswer, RunningAnswer, TaskAnswer, WaitEvent } from "../protocol/event.ts";
import { type KindPorts, type Reason, reasonOf, type SettlingPorts } from "../protocol/settling.ts";
import { settleNodeLink } from "../protocol/turn.ts";
import { type ChildAnswer, describeChildWait, hasInnerPlaces, runChild, settleChild } from "./child/run-child.ts";
import { runEnd } from "./end.ts";
import { runMap, settleMap } from "./map/run-map.ts";
import { expiredEntry, settleWaiting } from "./waiting/expire.ts";
import { resumeUrl } from "./waiting/resume.ts";
import { describeWait, runWait, type WaitAnswer } from "./waiting/wait.ts";
import type { WaitsFor } from "./waits-for.ts";

export type NodeAnswer = TaskAnswer | EndAnswer | WaitAnswer | ChildAnswer | RunningAnswer;

/** The functions of one kind of node. */
interface Kind<N extends Node> {
  /** Runs the task that Step Functions asks for. */
  runNodeTask(
    ports: KindPorts,
    event: WaitEvent & MapEvent,
    definition: NodeDefinition<N>,
    time: TaskTime,
  ): Promise<NodeAnswer>;
  /** Gives a turn that is `failing` or `closed` its entry. */
  settle(ports: SettlingPorts, held: HeldNode<N>, reason: Reason): Promise<StoredEntry>;
  /** Describes the wait of a held turn. Absent if nodes of the kind never wait. */
  waitsFor?(ports: Ports, node: N, at: LinkId, turn: Turn): Promise<WaitsFor | null>;
  /** `KindPorts.staysInside` for nodes of the kind. Absent: false. */
  staysInside?(ports: Ports, position: Position, plan: Plan, node: N): Promise<boolean>;
}

/** The skeleton of an attempt is the same for actions and decisions; executors do the work. */
const executors: Record<TaskNode["executor"]["kind"], Executor> = {
  code: codeExecutor,
  prompt: promptExecutor,
  text: textExecutor,
};

const task: Kind<TaskNode> = {
  runNodeTask: (ports, event, definition, time) =>
    runAttempts(ports, event, definition, executors[definition.node.executor.kind], time),
  settle: (ports, held, reason) => executors[held.node.executor.kind].settle(ports, held, reason),
  // A text node asks a model, even if it says that it has no effects.
  staysInside: async (_ports, _position, _plan, { effects, executor }) => effects === false && executor.kind !== "text",
};

const kinds: { [T in Node["type"]]: Kind<Extract<Node, { type: T }>> } = {
  start: { runNodeTask: noTask, settle: noTurn },
  action: task,
  decision: task,
  map: { runNodeTask: runMap, settle: settleMap, staysInside: async () => true },
  approval: { runNodeTask: noTask, settle: settleWaiting, waitsFor: describeWait },
  wait: { runNodeTask: runWait, settle: settleWaiting, waitsFor: describeWait },
  workflow: { runNodeTask: runChild, settle: settleChild, waitsFor: describeChildWait, staysInside: hasInnerPlaces },
  end: { runNodeTask: runEnd, settle: noTurn },
};

export const nodeKinds = kinds as Readonly<Record<Node["type"], Kind<Node>>>;

/** The ports with which the protocol can settle turns of every kind. */
export function withKinds(ports: Ports): KindPorts {
  const all: KindPorts = {
    ...ports,
    holdsTurn: (node) => nodeKinds[node.type].settle !== noTurn,
    settleTurn: (settling, held, reason) => nodeKinds[held.node.type].settle(settling, held, reason),
    asked: (position, definition) => promptHashAt(all, position, definition),
    resumeUrl: (position, node) => resumeUrl(ports, position, node),
    staysInside: async (position, plan, node) =>
      (await nodeKinds[node.type].staysInside?.(ports, position, plan, node)) ?? false,
  };
  return all;
}

/** An approval is requested by a task of its own, and a start's entry is link 0. */
async function noTask(_ports: unknown, _event: unknown, { node }: NodeDefinition): Promise<never> {
  throw chainBroken(`${node.type} node "${node.id}" is no task that runs`);
}

async function noTurn(_ports: unknown, { node }: NodeDefinition): Promise<never> {
  throw chainBroken(`${node.type} node "${node.id}" cannot hold a turn`);
}

/**
 * Runs the task of one node (docs/protocol.md). Reads its place in the chain; a delivery answers a committed outcome
 * and runs nothing; else the node runs once for all deliveries. Throws `NovaError`s, whose names the state machine's
 * Retry and Catch match. `signal` fires when the Lambda's time is nearly over. `followTime` says how long code that may
 * outlive it is followed.
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

/** The input of a settle task: a node whose task failed, or an approval that was not answered in time. */
export type SettleEvent = MapEvent & ({ error: CaughtError } | { expired: true });

/** The chain, not Step Functions, says what happened. Throws `ExecutionClosed`, `ChainBroken`. */
export async function settleNode(ports: Ports, event: SettleEvent): Promise<SettleAnswer> {
  const settling =
    "expired" in event
      ? expiredEntry(withKinds(ports), event)
      : settleNodeLink(settlingPorts(withKinds(ports)), event, reasonOf(event.error));
  return settleAnswer(ports, event, await settling);
}
