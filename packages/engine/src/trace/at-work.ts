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

/** What an execution does at the moment; field names are public. */
export interface AtWork {
  /** How many nodes hold their turn, those that wait among them. */
  count: number;
  /** Those that began first, at most `maxListed` of them. */
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
  /** Its attempts that have failed, as its entry will list them; absent where none has. */
  attempts?: TraceStep[];
}

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
const maxListed = 20;

export const nothingAtWork: AtWork = { count: 0, nodes: [], maps: [] };

/** `held`: every turn of the chain whose link has no entry. */
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

/** No attempt has failed where the first one still runs: most turns cost no further read. */
async function attemptsOf(ports: Ports, node: Node | undefined, { at, turn }: HeldTurn): Promise<TraceStep[]> {
  if (turn.attempt === 1 && turn.due === undefined) return [];
  return (await failedAttempts(ports, at)).map((record) => attemptStep(record, node));
}

async function waitOf(ports: Ports, node: Node, { at, turn }: HeldTurn): Promise<WaitsFor | null> {
  if (turn.due !== undefined && turn.sandbox === null) return { kind: "retry", until: turn.due };
  return (await nodeKinds[node.type].waitsFor?.(ports, node, at, turn)) ?? null;
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
