import {
  conditionLabel,
  defaultLabel,
  type Edge,
  forksOf,
  joinOf,
  type Node,
  nodeIndex,
  nodesBefore,
  type RunErrorClass,
  runErrors,
} from "@nova/workflow";
import type { Head, Plan } from "../chain/entry.ts";
import type { Position } from "../chain/position.ts";
import { chainBroken } from "../errors.ts";
import type { StoredEntry, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/pipeline.ts";
import type { CaughtError } from "./event.ts";
import type { Closed } from "./record.ts";

export interface NodeDefinition<N extends Node = Node> {
  version: WorkflowVersion;
  node: N;
  edges: Edge[];
}

export interface HeldNode<N extends Node = Node> extends NodeDefinition<N> {
  position: Position;
  turn: Turn;
}

export async function definitionOf(
  ports: Ports,
  { execution, node: id }: { execution: { workflowId: string; version: number }; node: string },
): Promise<NodeDefinition> {
  const version = await ports.workflows.get(execution.workflowId, execution.version);
  const found = version && nodeIndex(version.workflow).get(id);
  if (!found) throw chainBroken(`workflow ${execution.workflowId} version ${execution.version} has no node "${id}"`);
  return { version, node: found.node, edges: found.edges };
}

export async function versionOf(
  ports: Ports,
  { workflow_id, workflow_version }: Pick<Head, "workflow_id" | "workflow_version">,
): Promise<WorkflowVersion> {
  const version = await ports.workflows.get(workflow_id, workflow_version);
  if (version) return version;
  throw chainBroken(`workflow ${workflow_id} has no version ${workflow_version} any more`);
}

/** Whether an outcome has to say which of its edges is taken. */
export function isChosen({ edges }: Pick<NodeDefinition, "edges">): boolean {
  return edges.some(({ condition }) => condition !== undefined);
}

/** The node after one that does not decide: `<node>.join` if it fans out, null at the end of a map's item. */
export function defaultNext({ version, node, edges }: NodeDefinition): string | null {
  return forksOf(version.workflow).has(node.id) ? joinOf(node.id) : nextNodeId(version, edges[0]?.to);
}

/** `target`, but for an `end` in the body of a map, which is no place: it says that the item is done. */
export function nextNodeId({ workflow }: WorkflowVersion, target: string | null | undefined): string | null {
  return !target || nodeIndex(workflow).get(target)?.isDone ? null : target;
}

/** How often edges with a `max` were taken since their loops were entered, by `<from>-><label>`; absent: never. */
export type Loops = Readonly<Record<string, number>>;

export interface TakenEdge {
  label: string;
  to: string;
  loops?: Loops;
}

/** The edge that a decision takes: its own, or the default one where that was taken `max` times. */
export function takeEdge(definition: NodeDefinition, edge: Edge, before: Loops = {}): TakenEdge | { problem: string } {
  const label = conditionLabel(edge.condition);
  if (edge.max === undefined) return { label, to: edge.to };
  const taken = before[edgeKey(edge)] ?? 0;
  if (taken < edge.max) return { label, to: edge.to, loops: countEdge(definition, edge, before) };
  const rest = definition.edges.find(({ condition }) => conditionLabel(condition) === defaultLabel);
  if (rest) return { label: defaultLabel, to: rest.to };
  const times = edge.max === 1 ? "once" : `${edge.max} times`;
  return {
    problem: `the edge from "${edge.from}" to "${edge.to}" for ${JSON.stringify(label)} was taken ${times}, which is its max - raise it, or add an edge with "default" for what follows then`,
  };
}

export interface FollowedChoice {
  decision: string;
  next: string | null;
  more?: { loops: Loops };
}

/**
 * The edge of a choice: its own, or the default one if a person chose a label without an edge. After `max` times the
 * decision names the default edge, by which the state machine goes. Undefined where no edge leads on.
 */
export function followChoice(definition: NodeDefinition, choice: string, before?: Loops): FollowedChoice | undefined {
  const { version, node, edges } = definition;
  const leads = (label: string) => edges.find(({ condition }) => conditionLabel(condition) === label);
  const edge = leads(choice) ?? ("choices" in node ? leads(defaultLabel) : undefined);
  const taken = edge && takeEdge(definition, edge, before);
  if (!taken || "problem" in taken) return undefined;
  const { label, to, loops } = taken;
  const isWornOut = edge.max !== undefined && !loops;
  return { decision: isWornOut ? label : choice, next: nextNodeId(version, to), ...(loops && { more: { loops } }) };
}

/** Counts this edge once more. The loops inside its own are counted from 0 again. */
function countEdge({ version }: NodeDefinition, edge: Edge, before: Loops): Loops {
  const inside = [...nodesBefore(version.workflow, edge.from)];
  const kept = Object.entries(before).filter(([key]) => !inside.some((node) => isLoopOf(key, node)));
  return { ...Object.fromEntries(kept), [edgeKey(edge)]: (before[edgeKey(edge)] ?? 0) + 1 };
}

function edgeKey({ from, condition }: Edge): string {
  return `${from}->${conditionLabel(condition)}`;
}

export function isLoopOf(key: string, node: string): boolean {
  return key.startsWith(`${node}->`);
}

/** The failure of a node that has no outcome of its own. */
export interface Reason {
  class: RunErrorClass;
  message: string;
}

/** The ports, and how the kinds of nodes settle a turn: the protocol asks their table, which is built on it. */
export interface KindPorts extends Ports {
  /** False of nodes that commit without one: start and end. */
  holdsTurn(node: Node): boolean;
  /** Gives a turn that is `failing` or `closed` its entry, after all code of the node is dead. */
  settleTurn(ports: SettlingPorts, held: HeldNode, reason: Reason): Promise<StoredEntry>;
  /** SHA-256 of all that a text node would ask its model at a place; undefined of any other node. */
  asked(position: Position, definition: NodeDefinition): Promise<string | undefined>;
  /** The address where a later wait continues by one `POST`; null if there is no such wait. */
  resumeUrl(position: Position, node: string): Promise<string | null>;
  /** Whether a node may run in an execution that does nothing outside and takes its outcomes from a document. */
  staysInside(position: Position, plan: Plan, node: Node): Promise<boolean>;
}

/** A workflow node's outcome needs its execution to end: `settlingPorts` in close.ts can do that. */
export interface SettlingPorts extends KindPorts {
  /** Stops an execution and closes its chain, if it is not over; answers how it ended. */
  endChild(child: { id: string; stateMachineArn: string }): Promise<Closed>;
}

/** The reason of a Catch's error: NOVA's own classes stay, any other error becomes a named interruption. */
export function reasonOf({ Error: name, Cause: cause }: CaughtError): Reason {
  const message = messageOf(cause);
  if (Object.hasOwn(runErrors, name)) return { class: name as RunErrorClass, message };
  if (name === "States.Timeout")
    return { class: "NodeTimeout", message: "Step Functions ended the task at its time limit" };
  return { class: "NodeInterrupted", message: `${name}: ${message}` };
}

/** The cause of a Lambda's error is JSON with `errorMessage`; of anything else it is text. */
function messageOf(cause: string): string {
  try {
    const parsed = JSON.parse(cause) as { errorMessage?: unknown } | null;
    if (typeof parsed?.errorMessage === "string") return parsed.errorMessage;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return cause;
}
