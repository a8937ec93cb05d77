import { defined } from "@nova/workflow/defined";
import type { Draft, DraftNode, EditSource, NodeOutcome, RunBasis, SessionState } from "../ports/sessions.ts";
import { definitionHashes, isInput, sha256Of } from "./draft.ts";
import { buildDraftGraph, type DraftGraph, followsEdge } from "./draft-graph.ts";
import { bodyOf, listMapsAround } from "./scope.ts";

/** Whether the outcome of a node is the same as a new run of the whole draft would produce. */
export interface NodeFreshness {
  state: "fresh" | "stale";
  version: number;
  outcome?: NodeOutcome;
  /** True if the current outcomes of decisions lead past the node. Such a node needs no output. */
  isSkipped: boolean;
  /** The inputs that an outcome would have if the node ran now. */
  inputs: RunBasis;
  basis: string;
}

/** Stands in a hash for the outcome id of a node that has no outcome. */
const none = "none";
const skipped = "skipped";

/**
 * Decides which nodes are fresh. A node is fresh while all inputs of its outcome are the same. The inputs are the
 * node's definition, the settings and the initial context of the draft, and the outcomes of all nodes before it. These
 * nodes must be fresh, too. Direct predecessors alone would not suffice: a node that ran alone after a stale node used
 * the outcomes of earlier nodes. So an edit of a node makes exactly this node and its descendants stale, without a
 * stored mark.
 */
export function judgeFreshness(
  state: Pick<StateAround, "draft" | "context" | "nodes" | "isAfterStale">,
  draftGraph: DraftGraph,
): Map<string, NodeFreshness> {
  const hashes = definitionHashes(state);
  const inputNodes = new Set(state.draft.nodes.filter(isInput).map(({ id }) => id));
  const ancestors = findAncestors(draftGraph);
  const { loops } = draftGraph;
  const all = new Map<string, NodeFreshness>();
  for (const id of draftGraph.order) {
    const { version = 1, outcome } = state.nodes[id] ?? {};
    const incoming = draftGraph.before.get(id) ?? [];
    const loop = loops.get(id);
    const before = ancestors.get(id) ?? [];
    const needed = loop ? before : incoming.map(({ from }) => from);
    const areFresh = !state.isAfterStale && needed.every((from) => all.get(from)?.state === "fresh");
    const isReachable = incoming.some((edge) => {
      const source = all.get(edge.from);
      return !source?.isSkipped && (!source?.outcome || followsEdge(edge, source.outcome));
    });
    const definition = loop ? hashLoop(state.draft, loop, hashes) : (hashes.get(id) ?? none);
    const basisFor = (inputs: RunBasis) => basisOf(inputs, (from) => outcomeId(all.get(from)));
    // The last decision of a loop leads out of the loop, past nodes that ran in earlier rounds.
    const ranInLoop = loop !== undefined && outcome?.basis === basisFor({ definition, before, version });
    const isSkipped = areFresh && incoming.length > 0 && !isReachable && !ranInLoop;
    // A skipped node that ran alone must not look fresh.
    const inputs: RunBasis = { definition: isSkipped ? `${definition} ${skipped}` : definition, before, version };
    const basis = basisFor(inputs);
    const isFresh = areFresh && (isSkipped || inputNodes.has(id) || outcome?.basis === basis);
    all.set(id, {
      state: isFresh ? "fresh" : "stale",
      version,
      ...(outcome && { outcome }),
      isSkipped,
      inputs,
      basis,
    });
  }
  return all;
}

/**
 * Returns the state of the draft or map body that has the node. The `context` of a body is a hash of everything that
 * decides the first item of its map. So the outcomes for this item are fresh while all their inputs are the same.
 */
export function stateAround(state: SessionState, id: string): StateAround {
  return listMapsAround(state.draft.nodes, id).reduce<StateAround>(enterMap, state);
}

export interface StateAround extends SessionState {
  /** Whether a node before the map is stale. In this case, no node in the body of the map is fresh. */
  isAfterStale?: boolean;
}

/** Returns the state of the nodes in the body of a map. */
export function enterMap(state: StateAround, map: DraftNode): StateAround {
  const shell = { ...map, nodes: [], edges: [] };
  const draft = { ...state.draft, nodes: state.draft.nodes.map((one) => (one === map ? shell : one)) };
  const draftGraph = buildDraftGraph(draft);
  const all = judgeFreshness({ ...state, draft }, draftGraph);
  const before = draftGraph.before.get(map.id) ?? [];
  const isAfterStale = state.isAfterStale || before.some(({ from }) => all.get(from)?.state !== "fresh");
  const { recorded: _, ...kept } = state;
  return { ...kept, draft: { ...draft, ...bodyOf(map) }, context: all.get(map.id)?.basis ?? none, isAfterStale };
}

export function outcomeId(freshness: Pick<NodeFreshness, "isSkipped" | "outcome"> | undefined): string {
  if (freshness?.isSkipped) return skipped;
  return freshness?.outcome?.id ?? none;
}

/** Returns the hash of an outcome's inputs. `idOf` returns the outcome id of a node. */
export function basisOf({ definition, before }: Omit<RunBasis, "version">, idOf: (node: string) => string): string {
  return sha256Of(["all", definition, before.map((id) => [id, idOf(id)])]);
}

/** Returns the inputs of a run of these nodes. `nodes` may contain a node outside the draft. */
export function buildRunBases(
  state: Pick<StateAround, "draft" | "context" | "nodes" | "isAfterStale">,
  draftGraph: DraftGraph,
  nodes: Iterable<string>,
): Record<string, RunBasis> {
  const all = judgeFreshness(state, draftGraph);
  const unknownNode: RunBasis = { definition: none, before: [], version: 1 };
  return Object.fromEntries(Array.from(nodes, (id) => [id, all.get(id)?.inputs ?? unknownNode]));
}

/** Hashes everything in a loop, because each of its nodes may depend on all others in the round before. */
function hashLoop({ edges }: Draft, loop: readonly string[], hashes: ReadonlyMap<string, string>): string {
  const leaving = edges.flatMap(({ from, to, condition, max }) =>
    loop.includes(from) ? [[from, to, condition, max]] : [],
  );
  return sha256Of([loop.map((id) => [id, hashes.get(id)]), leaving]);
}

/**
 * Returns all ancestors of each node, sorted. The ancestors of a node in a loop include all nodes outside the loop that
 * come before any node of the loop.
 */
function findAncestors({ order, before, loops }: DraftGraph): Map<string, string[]> {
  const all = new Map<string, string[]>();
  for (const id of order) {
    const parents = (before.get(id) ?? []).map(({ from }) => from);
    all.set(id, [...new Set(parents.flatMap((parent) => [parent, ...(all.get(parent) ?? [])]))].sort());
  }
  const own = new Map(all);
  for (const [id, loop] of loops) {
    const outside = loop.flatMap((one) => own.get(one) ?? []).filter((one) => !loop.includes(one));
    all.set(id, [...new Set([...(own.get(id) ?? []), ...outside])].sort());
  }
  return all;
}

/** The outcome of one node in an execution of the session. */
export type RunOutcome = Pick<NodeOutcome, "id" | "decision" | "failed" | "source">;

/**
 * Adds the outcomes of an execution. A node that a user changed after the start of the execution keeps that change. The
 * outcomes of the nodes in `unfinished` are stale, because the execution ended inside their loop.
 */
export function addOutcomes(
  state: SessionState,
  execution: string,
  outcomes: ReadonlyMap<string, RunOutcome>,
  unfinished: ReadonlySet<string> = new Set(),
): SessionState {
  const run = state.runs.find((one) => one.execution === execution);
  if (!run) return state;
  const idOf = (node: string) => outcomes.get(node)?.id ?? run.given[node] ?? skipped;
  const nodes = { ...state.nodes };
  for (const [id, basis] of Object.entries(run.nodes)) {
    const found = outcomes.get(id);
    const record = nodes[id];
    if (!found || record?.version !== basis.version) continue;
    const known = unfinished.has(id) ? "" : basisOf(basis, idOf);
    nodes[id] = { version: record.version + 1, outcome: { ...found, basis: known } };
  }
  return { ...state, nodes, runs: state.runs.filter((one) => one !== run) };
}

/** Sets an outcome that a user wrote. */
export function addEdit(
  state: SessionState,
  draftGraph: DraftGraph,
  id: string,
  { source, decision }: { source: EditSource; decision?: string },
): SessionState {
  const { basis, version, outcome } = judgeFreshness(state, draftGraph).get(id) as NodeFreshness;
  const chosen = decision ?? outcome?.decision;
  const edited: NodeOutcome = { id: sha256Of([id, version, source]), basis, ...defined({ decision: chosen }), source };
  return { ...state, nodes: { ...state.nodes, [id]: { version: version + 1, outcome: edited } } };
}
