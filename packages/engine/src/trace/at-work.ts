import { defined, type Node, nodeIndex } from "@nova/workflow";
import { isItem } from "../chain/scope.ts";
import { nodeKinds } from "../kinds/table.ts";
import type { WaitsFor } from "../kinds/waits-for.ts";
import type { LinkId, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/workflows.ts";
import { failedAttempts } from "../protocol/attempts.ts";
import type { TraceEntry } from "./trace-entry.ts";
import { attemptStep, type TraceStep } from "./trace-step.ts";

/** The current activity of an execution; field names are public. */
export interface AtWork {
  /** The number of nodes that hold their turn, including those that wait. */
  count: number;
  /** The nodes that started first, at most `maxListed`. */
  nodes: NodeAtWork[];
  /** Maps with unfinished items. */
  maps: MapProgress[];
}

export interface NodeAtWork extends Pick<LinkId, "scope" | "seq"> {
  node_id: string;
  /** Null if the workflow is no longer stored. */
  node_type: string | null;
  /** Starts at 1. From 2 on, the attempt before was lost, or failed and is repeated. */
  attempt: number;
  /** ISO 8601. */
  since: string;
  /** Null while code runs or a model writes it. */
  waits_for: WaitsFor | null;
  /** Failed attempts of the node, as its entry will list them; absent if there are none. */
  attempts?: TraceStep[];
}

export interface MapProgress extends Pick<LinkId, "scope" | "seq"> {
  node_id: string;
  items: number;
  /** Includes the failed items. */
  done: number;
  failed: number;
}

/** A turn without an entry yet. */
export interface HeldTurn {
  at: LinkId;
  turn: Turn;
}

/** A map may run thousands of items at the same time. */
const maxListed = 20;

export const nothingAtWork: AtWork = { count: 0, nodes: [], maps: [] };

/** `held` holds every turn of the chain without an entry. */
export async function atWorkOf(
  ports: Ports,
  version: WorkflowVersion | undefined,
  held: readonly HeldTurn[],
  entries: readonly TraceEntry[],
): Promise<AtWork> {
  const listed = held.toSorted((a, b) => (a.turn.since < b.turn.since ? -1 : 1)).slice(0, maxListed);
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
  const node = version && nodeIndex(version.workflow).get(node_id)?.node;
  const [waits_for, attempts] = await Promise.all([
    node ? waitOf(ports, node, { at, turn }) : null,
    attemptsOf(ports, node, { at, turn }),
  ]);
  const told = attempts.length > 0 ? attempts : undefined;
  return defined({ node_id, node_type: node?.type ?? null, ...place, attempt, since, waits_for, attempts: told });
}

/** A first attempt that still runs has no failed attempts, so most turns need no further read. */
async function attemptsOf(ports: Ports, node: Node | undefined, { at, turn }: HeldTurn): Promise<TraceStep[]> {
  if (turn.attempt === 1 && turn.due === undefined) return [];
  return (await failedAttempts(ports, at)).map((record) => attemptStep(record, node));
}

async function waitOf(ports: Ports, node: Node, { at, turn }: HeldTurn): Promise<WaitsFor | null> {
  if (turn.due !== undefined && turn.sandbox === null) return { kind: "retry", until: turn.due };
  return (await nodeKinds[node.type].waitsFor?.(ports, node, at, turn)) ?? null;
}

/** Maps whose fork has no entry after it in its scope. */
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
