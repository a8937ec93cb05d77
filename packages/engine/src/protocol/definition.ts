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
  type WorkflowNode,
} from "@nova/workflow";
import type { Head, Plan } from "../chain/entry.ts";
import type { Position } from "../chain/position.ts";
import { chainBroken } from "../errors.ts";
import type { StoredEntry, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/pipeline.ts";
import type { CaughtError, NodeEvent } from "./event.ts";
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

/** Names the run of an entry, as events do. */
export function runOf({ execution_id: id, workflow_id: workflowId, workflow_version: version }: Head) {
  return { id, workflowId, version };
}

export async function definitionOf(ports: Ports, { execution, node: id }: Pick<NodeEvent, "execution" | "node">) {
  const version = await ports.workflows.get(execution.workflowId, execution.version);
  const found = version && nodeIndex(version.workflow).get(id);
  if (!found) throw chainBroken(`workflow ${execution.workflowId} version ${execution.version} has no node "${id}"`);
  return { version, node: found.node, edges: found.edges } satisfies NodeDefinition;
}

export async function versionOf(
  ports: Ports,
  { workflow_id, workflow_version }: Pick<Head, "workflow_id" | "workflow_version">,
): Promise<WorkflowVersion> {
  const version = await ports.workflows.get(workflow_id, workflow_version);
  if (version) return version;
  throw chainBroken(`workflow ${workflow_id} has no version ${workflow_version} any more`);
}

/** Finds the version that a workflow node runs now. */
export async function findCalledVersion(ports: Pick<Ports, "workflows">, { workflow, version }: WorkflowNode) {
  const latest = await ports.workflows.latest(workflow);
  if (!latest) return { problem: `there is no workflow "${workflow}" - publish it, or correct the id` };
  if (version === undefined || version === latest.version) return latest;
  const pinned = await ports.workflows.get(workflow, version);
  return pinned ?? { problem: `workflow "${workflow}" has no version ${version} - its latest is ${latest.version}` };
}

/** Whether the outcome of a node has to say which edge of the node the run takes. */
export function isChosen({ edges }: Pick<NodeDefinition, "edges">): boolean {
  return edges.some(({ condition }) => condition !== undefined);
}

/**
 * Returns the id of the node after a node that does not decide: `<node>.join` if several edges leave it, null at the
 * end of an item of a map. For an agent, this is its join only if there are `calls`.
 */
export function defaultNext({ version, node, edges }: NodeDefinition, calls?: readonly string[]): string | null {
  const fork = forksOf(version.workflow).get(node.id);
  const branchesOff = fork && (fork.kind !== "agent" || calls !== undefined);
  return branchesOff ? joinOf(node.id) : nextNodeId(version, edges[0]?.to);
}

/**
 * Returns `target`, or null if it is an `end` in the body of a map: that node never runs, and only marks the end of the
 * item.
 */
export function nextNodeId({ workflow }: WorkflowVersion, target: string | null | undefined): string | null {
  return !target || nodeIndex(workflow).get(target)?.isDone ? null : target;
}

/**
 * How often the run has taken each edge with a `max` since it entered the loop of the edge, by `<from>-><label>`;
 * absent: never.
 */
export type Loops = Readonly<Record<string, number>>;

export interface TakenEdge {
  label: string;
  to: string;
  loops?: Loops;
}

/**
 * Returns the edge that a decision takes: the given edge, or the default edge if the given edge was already taken `max`
 * times. Returns a problem if there is no default edge.
 */
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
 * Finds the edge for a label: the edge with this label, or for an approval the default edge if no edge has this label.
 * If the edge was already taken `max` times, returns the default edge, which `decision` then names for the Choice
 * state. Undefined if no edge is left.
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

/** Counts this edge once more. Loops inside the loop of this edge are counted from 0 again. */
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

/** The reason why a node that has produced no outcome fails. */
export interface Reason {
  class: RunErrorClass;
  message: string;
}

/**
 * The ports, with functions that differ by the kind of a node. Callers pass these functions as ports, because the table
 * of kinds imports the protocol, and the protocol cannot import the table.
 */
export interface KindPorts extends Ports {
  /** Whether the node takes a turn. Start and end nodes write their entries without a turn. */
  holdsTurn(node: Node): boolean;
  /** Stops all code of the node, and then writes the entry for its turn, which is `failing` or `closed`. */
  settleTurn(ports: SettlingPorts, held: HeldNode, reason: Reason): Promise<StoredEntry>;
  /**
   * Returns the SHA-256 of the question that a text node would ask its model at this position. Undefined for other
   * nodes.
   */
  asked(position: Position, definition: NodeDefinition): Promise<string | undefined>;
  /** Returns the address where one `POST` ends the next visit of a wait; null if the node is no wait for an event. */
  resumeUrl(position: Position, node: string): Promise<string | null>;
  /** Whether a node may run in a sealed execution, which has no effects and takes its outcomes from a document. */
  staysInside(position: Position, plan: Plan, node: Node): Promise<boolean>;
}

/**
 * The ports for settling. To settle a workflow node, NOVA must end the execution that this node runs. `settlingPorts`
 * in close.ts builds these ports.
 */
export interface SettlingPorts extends KindPorts {
  /** Stops an execution and closes its chain, unless it has ended. Returns how it ended. */
  endChild(child: { id: string; stateMachineArn: string }): Promise<Closed>;
}

/**
 * Converts the error of a Catch: NOVA's own error classes stay, a timeout of Step Functions becomes `NodeTimeout`, and
 * any other error becomes a `NodeInterrupted` with its name in the message.
 */
export function reasonOf({ Error: name, Cause: cause }: CaughtError): Reason {
  const message = messageOf(cause);
  if (Object.hasOwn(runErrors, name)) return { class: name as RunErrorClass, message };
  if (name === "States.Timeout")
    return { class: "NodeTimeout", message: "Step Functions ended the task at its time limit" };
  return { class: "NodeInterrupted", message: `${name}: ${message}` };
}

/**
 * Reads the message of an error. The cause is JSON with `errorMessage` if a Lambda failed, and plain text otherwise.
 */
function messageOf(cause: string): string {
  try {
    const parsed = JSON.parse(cause) as { errorMessage?: unknown } | null;
    if (typeof parsed?.errorMessage === "string") return parsed.errorMessage;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return cause;
}
