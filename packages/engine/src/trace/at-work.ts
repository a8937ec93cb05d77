import { defined, type Node, nodeIndex } from "@nova/workflow";
import { failedAttempts } from "../attempt/retry.ts";
import type { Head } from "../chain/entry.ts";
import { isItem } from "../chain/ids.ts";
import { nodeKinds } from "../kinds/table.ts";
import type { WaitsFor } from "../kinds/waiting/waiting-task.ts";
import type { EntryId, Turn } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/pipeline.ts";
import { attemptStep, type TraceStep } from "./trace-entry.ts";

/** The nodes of an execution that run or wait at this time; field names are public. */
export interface AtWork {
  /** The number of nodes that have a turn and no entry yet, including nodes that wait. */
  count: number;
  nodes: NodeAtWork[];
  maps: MapProgress[];
}

export interface NodeAtWork extends Pick<EntryId, "scope" | "seq"> {
  node_id: string;
  /** The type of the node; null if the workflow is no longer stored. */
  node_type: string | null;
  /** Starts at 1. A higher number means that the attempts before it failed, or lost their sandbox. */
  attempt: number;
  /** A time in ISO 8601. */
  since: string;
  /** The reason why the node waits; null while its code runs or a model writes it. */
  waits_for: WaitsFor | null;
  /** The failed attempts of the node so far, in the form that its entry will have. Absent if there are none. */
  attempts?: TraceStep[];
}

interface MapProgress extends Pick<EntryId, "scope" | "seq"> {
  node_id: string;
  items: number;
  /** The number of ended items, failed ones included. */
  done: number;
  failed: number;
}

/** A turn for which there is no entry yet. */
export interface HeldTurn {
  at: EntryId;
  turn: Turn;
}

/** The maximum of nodes to list, because a map may run thousands at the same time. */
const maxListed = 20;

export const nothingAtWork: AtWork = { count: 0, nodes: [], maps: [] };

/**
 * Describes the nodes at work. `held` has every turn of the chain that has no entry yet. `visits` has the entries of
 * the main line.
 */
export async function atWorkOf(
  ports: Ports,
  version: WorkflowVersion | undefined,
  held: readonly HeldTurn[],
  visits: readonly Visit[],
): Promise<AtWork> {
  const listed = held.toSorted((a, b) => (a.turn.since < b.turn.since ? -1 : 1)).slice(0, maxListed);
  const nodes = await Promise.all(listed.map((one) => nodeAtWork(ports, version, one)));
  return { count: held.length, nodes, maps: openMaps(visits) };
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

/**
 * Returns the failed attempts of a node at work. A node in its first attempt has no failed attempt, so most turns need
 * no read.
 */
async function attemptsOf(ports: Ports, node: Node | undefined, { at, turn }: HeldTurn): Promise<TraceStep[]> {
  if (turn.attempt === 1 && turn.due === undefined) return [];
  return (await failedAttempts(ports, at)).map((record) => attemptStep(record, node));
}

async function waitOf(ports: Ports, node: Node, { at, turn }: HeldTurn): Promise<WaitsFor | null> {
  if (turn.due !== undefined && turn.sandbox === null) return { kind: "retry", until: turn.due };
  return (await nodeKinds[node.type].waitsFor?.(ports, node, at, turn)) ?? null;
}

/** The facts about an entry that tell how far its scope has come. For a fork, also the facts about its branches. */
export interface Visit extends Pick<Head, "node_id" | "node_type" | "status" | "path_taken" | "scope" | "seq"> {
  branches?: readonly { branch: string; entries: readonly Visit[] }[];
}

/** Returns the progress of each map that has not ended: no entry follows its fork. */
function openMaps(visits: readonly Visit[]): MapProgress[] {
  const last = visits.at(-1);
  if (!last?.branches) return [];
  const { node_id, scope, seq, branches } = last;
  const inside = branches.flatMap((branch) => openMaps(branch.entries));
  if (!branches.some(({ branch }) => isItem(branch))) return inside;
  const ends = branches.flatMap(({ entries: inItem }) => inItem.at(-1) ?? []).filter((end) => end.path_taken === null);
  const failed = ends.filter(({ status }) => status === "failed").length;
  return [{ node_id, scope, seq, items: branches.length, done: ends.length, failed }, ...inside];
}
