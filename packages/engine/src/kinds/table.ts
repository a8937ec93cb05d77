import type { Node, TaskNode } from "@nova/workflow";
import type { Plan } from "../chain/head.ts";
import type { Position } from "../chain/position.ts";
import { chainBroken } from "../errors.ts";
import type { LinkId, StoredEntry, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { MapEvent } from "../protocol/answer.ts";
import type { HeldNode, NodeDefinition } from "../protocol/definition.ts";
import type { EndAnswer, RunningAnswer, TaskAnswer, WaitEvent } from "../protocol/event.ts";
import type { KindPorts, Reason, SettlingPorts } from "../protocol/settling.ts";
import { type ChildAnswer, describeChildWait, isRecordedInside, runChild, settleChild } from "./child/run-child.ts";
import { codePass, settleCode, type TaskTime } from "./code/run-code.ts";
import { runEnd } from "./end.ts";
import { runMap, settleMap } from "./map/run-map.ts";
import { settlePrompt } from "./prompt/outcome.ts";
import { promptPass } from "./prompt/run-prompt.ts";
import { type Produced, runTask } from "./task/run-task.ts";
import type { Task } from "./task/task.ts";
import { promptHashAt, textPass } from "./text/run-text.ts";
import { settleWaiting } from "./waiting/expire.ts";
import { describeWait, runWait, type WaitAnswer } from "./waiting/wait.ts";
import type { WaitsFor } from "./waits-for.ts";

export type NodeAnswer = TaskAnswer | EndAnswer | WaitAnswer | ChildAnswer | RunningAnswer;

/** What is special about a kind of node. */
interface Kind<N extends Node> {
  /** The task that Step Functions asks for. */
  runNodeTask(
    ports: KindPorts,
    event: WaitEvent & MapEvent,
    definition: NodeDefinition<N>,
    time: TaskTime,
  ): Promise<NodeAnswer>;
  /** Gives a turn that is `failing` or `closed` its entry. */
  settle(ports: SettlingPorts, held: HeldNode<N>, reason: Reason): Promise<StoredEntry>;
  /** What the holder of the turn waits for. Absent where it always works. */
  waitsFor?(ports: Ports, node: N, at: LinkId, turn: Turn): Promise<WaitsFor | null>;
  /** As in `KindPorts`. Absent where it does not. */
  staysInside?(ports: Ports, position: Position, plan: Plan, node: N): Promise<boolean>;
}

interface Executor extends Pick<Kind<TaskNode>, "settle"> {
  pass(ports: Ports, task: Task, time: TaskTime): Promise<Produced>;
  /** Whether it asks others outside, though the node says that it has no effects. */
  asksOutside: boolean;
}

/** Of actions and decisions, by who does their work. */
const executors: Record<TaskNode["executor"]["kind"], Executor> = {
  code: { pass: codePass, settle: settleCode, asksOutside: false },
  prompt: { pass: promptPass, settle: settlePrompt, asksOutside: false },
  text: { pass: textPass, settle: settlePrompt, asksOutside: true },
};

const task: Kind<TaskNode> = {
  runNodeTask(ports, event, definition, time) {
    const { pass } = executors[definition.node.executor.kind];
    return runTask(ports, event, definition, (task) => pass(ports, task, time));
  },
  settle: (ports, held, reason) => executors[held.node.executor.kind].settle(ports, held, reason),
  staysInside: async (_ports, _position, _plan, { effects, executor }) =>
    effects === false && !executors[executor.kind].asksOutside,
};

const kinds: { [T in Node["type"]]: Kind<Extract<Node, { type: T }>> } = {
  start: { runNodeTask: noTask, settle: noTurn },
  action: task,
  decision: task,
  map: { runNodeTask: runMap, settle: settleMap, staysInside: async () => true },
  approval: { runNodeTask: noTask, settle: settleWaiting, waitsFor: describeWait },
  wait: { runNodeTask: runWait, settle: settleWaiting, waitsFor: describeWait },
  workflow: { runNodeTask: runChild, settle: settleChild, waitsFor: describeChildWait, staysInside: isRecordedInside },
  end: { runNodeTask: runEnd, settle: noTurn },
};

export function findNodeKind({ type }: Node): Kind<Node> {
  return kinds[type] as Kind<Node>;
}

/** The ports with which the protocol can settle turns of every kind. */
export function withKinds(ports: Ports): KindPorts {
  return {
    ...ports,
    holdsTurn: (node) => findNodeKind(node).settle !== noTurn,
    settleTurn: (settling, held, reason) => findNodeKind(held.node).settle(settling, held, reason),
    asked: (position, definition) => promptHashAt(ports, position, definition),
    staysInside: async (position, plan, node) =>
      (await findNodeKind(node).staysInside?.(ports, position, plan, node)) ?? false,
  };
}

/** An approval is requested by a task of its own, and a start's entry is link 0. */
async function noTask(_ports: unknown, _event: unknown, { node }: NodeDefinition): Promise<never> {
  throw chainBroken(`${node.type} node "${node.id}" is no task that runs`);
}

async function noTurn(_ports: unknown, { node }: NodeDefinition): Promise<never> {
  throw chainBroken(`${node.type} node "${node.id}" cannot hold a turn`);
}
