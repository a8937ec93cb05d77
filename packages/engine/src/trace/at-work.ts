import { nodeIndex, textOfJson, type WaitNode } from "@nova/workflow";
import { contextBefore } from "../chain/item-input.ts";
import { inputAfter, readPosition } from "../chain/position.ts";
import { isItem } from "../chain/scope.ts";
import { RawJson } from "../json/raw.ts";
import { childId } from "../kinds/child/child-id.ts";
import { taskId } from "../kinds/waiting/task-id.ts";
import { untilOf } from "../kinds/waiting/until.ts";
import { isWaitingNode } from "../kinds/waiting/waiting-node.ts";
import type { LinkId, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { WaitingTask } from "../ports/tasks.ts";
import type { WorkflowVersion } from "../ports/workflows.ts";
import type { TraceEntry } from "./trace-entry.ts";
import { unlessErased } from "./unless-erased.ts";

/** What an execution does at the moment; field names are public. */
export interface AtWork {
  /** How many nodes hold their turn, those that wait among them. */
  count: number;
  /** Those that began first, at most `mostListed` of them. */
  nodes: NodeAtWork[];
  /** Maps whose items are not all done. */
  maps: MapProgress[];
}

export interface NodeAtWork extends Pick<LinkId, "scope" | "seq"> {
  node_id: string;
  /** Null where the workflow is no longer stored. */
  node_type: string | null;
  /** Counts from 1; above 1 the run before it was lost, or failed and is repeated. */
  attempt: number;
  /** ISO 8601. */
  since: string;
  /** Null where code runs, or a model writes it. */
  waits_for: WaitsFor | null;
}

/** `until` is ISO 8601; null where nothing ends the wait but an answer. */
export type WaitsFor =
  | { kind: "time"; until: string | null }
  | { kind: "retry"; until: string }
  | { kind: "workflow"; until: null; execution_id: string }
  | { kind: "approval"; until: string | null; task_id: string; message: string; choices: string[] }
  | { kind: "event"; until: string | null; task_id: string; pattern: RawJson | null };

export interface MapProgress extends Pick<LinkId, "scope" | "seq"> {
  node_id: string;
  items: number;
  /** Those that failed among them. */
  done: number;
  failed: number;
}

/** A turn whose link has no entry yet. */
export interface HeldTurn {
  at: LinkId;
  turn: Turn;
}

/** A map may have thousands of items at work. */
const mostListed = 20;

export const nothingAtWork: AtWork = { count: 0, nodes: [], maps: [] };

/** `held`: every turn of the chain whose link has no entry. */
export async function atWorkOf(
  ports: Ports,
  version: WorkflowVersion | undefined,
  held: readonly HeldTurn[],
  entries: readonly TraceEntry[],
): Promise<AtWork> {
  const listed = held.toSorted((a, b) => (a.turn.since < b.turn.since ? -1 : 1)).slice(0, mostListed);
  const nodes = await Promise.all(listed.map((one) => nodeAtWork(ports, version, one)));
  return { count: held.length, nodes, maps: openMaps(entries) };
}

async function nodeAtWork(
  ports: Ports,
  version: WorkflowVersion | undefined,
  { at: { execution, ...place }, turn }: HeldTurn,
): Promise<NodeAtWork> {
  const { node: node_id, attempt, since } = turn;
  const at = { execution, ...place };
  return {
    ...{ node_id, node_type: typeOf(version, node_id), ...place, attempt, since },
    waits_for: version ? await waitOf(ports, version, { at, turn }) : null,
  };
}

function typeOf(version: WorkflowVersion | undefined, id: string): string | null {
  return (version && nodeIndex(version.workflow).get(id)?.node.type) ?? null;
}

async function waitOf(ports: Ports, { workflow }: WorkflowVersion, { at, turn }: HeldTurn): Promise<WaitsFor | null> {
  const node = nodeIndex(workflow).get(turn.node)?.node;
  if (!node) return null;
  if (turn.due !== undefined && turn.sandbox === null) return { kind: "retry", until: turn.due };
  if (isWaitingNode(node)) {
    const id = taskId(at, turn.since);
    const task = await ports.tasks.get({ execution: at.execution, id });
    if (!task) return null; // it is about to ask
    const common = { until: task.expiresAt, task_id: id };
    if (task.kind === "event") return { kind: "event", ...common, pattern: patternOf(task) };
    return { kind: "approval", ...common, message: task.message, choices: task.choices };
  }
  if (node.type === "workflow") return { kind: "workflow", until: null, execution_id: childId(at, turn.since) };
  return node.type === "wait" ? { kind: "time", until: await timeOf(ports, node, { at, turn }) } : null;
}

/** With the digits that it was bound with. */
function patternOf({ pattern }: WaitingTask): RawJson | null {
  return pattern === undefined ? null : new RawJson(textOfJson(pattern));
}

async function timeOf(ports: Ports, node: WaitNode, { at, turn }: HeldTurn): Promise<string | null> {
  const position = await readPosition(ports, at);
  const kept = await unlessErased(() => contextBefore(ports, position));
  if (!kept) return null;
  const until = untilOf(
    node,
    await inputAfter(position.beforeEntry, kept.context, ports.blobs),
    Date.parse(turn.since),
  );
  return "ms" in until ? new Date(until.ms).toISOString() : null;
}

/** A map is open where nothing comes behind its fork. */
function openMaps(entries: readonly TraceEntry[]): MapProgress[] {
  const last = entries.at(-1);
  if (!last?.branches) return [];
  const { node_id, scope, seq, branches } = last;
  const inside = branches.flatMap((branch) => openMaps(branch.entries));
  if (!branches.some(({ branch }) => isItem(branch))) return inside;
  const ends = branches.flatMap(({ entries: inItem }) => inItem.at(-1) ?? []).filter((end) => end.path_taken === null);
  const failed = ends.filter(({ status }) => status === "failed").length;
  return [{ node_id, scope, seq, items: branches.length, done: ends.length, failed }, ...inside];
}
