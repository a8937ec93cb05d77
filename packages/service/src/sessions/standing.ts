import { defined } from "@nova/workflow/defined";
import type { EditSource, NodeOutcome, RunBasis, SessionState } from "../ports/sessions.ts";
import { definitionHashes, isInput, sha256Of } from "./draft.ts";
import { leadsAlong, type Shape } from "./shape.ts";

/** How a node stands: whether what it came to is what a run of everything would come to. */
export interface Standing {
  state: "fresh" | "stale";
  version: number;
  outcome?: NodeOutcome;
  /** No way leads to it, as things stand: it has no output, and needs none. */
  isSkipped: boolean;
  /** What an outcome that it came to now would come of, and the hash of that. */
  comesOf: RunBasis;
  basis: string;
}

/** What stands for the outcome of a node that has none. */
const none = "none";
const skipped = "skipped";

/**
 * A node is fresh while everything that its outcome came of is the same: its definition, its surroundings, and the
 * outcomes of all nodes before it, which are fresh themselves. Those right before it would not do: one that ran alone
 * behind a stale node has found more than what that node had come of. So an edit makes its node and the descendants of that
 * stale, and nothing else, and nobody has to remember to mark them.
 */
export function standings(
  state: Pick<SessionState, "draft" | "context" | "nodes">,
  shape: Shape,
): Map<string, Standing> {
  const hashes = definitionHashes(state);
  const inputs = new Set(state.draft.nodes.filter(isInput).map(({ id }) => id));
  const earlier = nodesBefore(shape);
  const all = new Map<string, Standing>();
  for (const id of shape.order) {
    const { version = 1, outcome } = state.nodes[id] ?? {};
    const ways = shape.before.get(id) ?? [];
    const sources = ways.map(({ from }) => all.get(from));
    const areFresh = sources.every((source) => source?.state === "fresh");
    const isOpen = ways.some((way) => {
      const source = all.get(way.from);
      return !source?.isSkipped && (!source?.outcome || leadsAlong(way, source.outcome));
    });
    const isSkipped = areFresh && ways.length > 0 && !isOpen;
    const idOf = (from: string) => outcomeId(all.get(from));
    const definition = hashes.get(id) ?? none;
    // What it comes to alone, where no way leads to it, was made of ways that no run takes.
    const comesOf = {
      definition: isSkipped ? `${definition} ${skipped}` : definition,
      before: earlier.get(id) ?? [],
      version,
    };
    const basis = basisOf(comesOf, idOf);
    const isSame = () => outcome?.basis === basis || outcome?.basis === earlierBasis(definition, namesOf(ways), idOf);
    const isFresh = areFresh && (isSkipped || inputs.has(id) || isSame());
    all.set(id, {
      state: isFresh ? "fresh" : "stale",
      version,
      ...(outcome && { outcome }),
      isSkipped,
      comesOf,
      basis,
    });
  }
  return all;
}

export function outcomeId(standing: Pick<Standing, "isSkipped" | "outcome"> | undefined): string {
  if (standing?.isSkipped) return skipped;
  return standing?.outcome?.id ?? none;
}

/** Hash of what an outcome came of. */
export function basisOf({ definition, before }: Omit<RunBasis, "version">, idOf: (node: string) => string): string {
  return sha256Of(["all", definition, before.map((id) => [id, idOf(id)])]);
}

/** The same as earlier releases wrote it: of the nodes right before it. */
function earlierBasis(definition: string, before: readonly string[], idOf: (node: string) => string): string {
  return sha256Of([definition, before.map((id) => [id, idOf(id)])]);
}

/** What a run of these nodes will have come of; one that is none of the draft may be among them. */
export function runBases(
  state: Pick<SessionState, "draft" | "context" | "nodes">,
  shape: Shape,
  nodes: Iterable<string>,
): Record<string, RunBasis> {
  const all = standings(state, shape);
  const ofNone: RunBasis = { definition: none, before: [], version: 1 };
  return Object.fromEntries(Array.from(nodes, (id) => [id, all.get(id)?.comesOf ?? ofNone]));
}

/** All from which ways lead to each node, sorted. */
function nodesBefore({ order, before }: Shape): Map<string, string[]> {
  const all = new Map<string, string[]>();
  for (const id of order) {
    const names = namesOf(before.get(id) ?? []);
    all.set(id, [...new Set(names.flatMap((name) => [name, ...(all.get(name) ?? [])]))].sort());
  }
  return all;
}

function namesOf(ways: readonly { from: string }[]): string[] {
  return [...new Set(ways.map(({ from }) => from))].sort();
}

/** What an execution of the session came to for one node. */
export type CameTo = Pick<NodeOutcome, "id" | "decision" | "failed" | "source">;

/**
 * Takes over what an execution came to. A node that somebody has changed since it began keeps what they made of it; what
 * the execution came to is in the execution.
 */
export function withOutcomes(
  state: SessionState,
  execution: string,
  cameTo: ReadonlyMap<string, CameTo>,
): SessionState {
  const run = state.runs.find((one) => one.execution === execution);
  if (!run) return state;
  const idOf = (node: string) => cameTo.get(node)?.id ?? run.given[node] ?? skipped;
  const nodes = { ...state.nodes };
  for (const [id, basis] of Object.entries(run.nodes)) {
    const found = cameTo.get(id);
    const record = nodes[id];
    if (!found || record?.version !== basis.version) continue;
    nodes[id] = { version: record.version + 1, outcome: { ...found, basis: basisOf(basis, idOf) } };
  }
  return { ...state, nodes, runs: state.runs.filter((one) => one !== run) };
}

/** Somebody's hand has written what a node came to. */
export function withEdit(
  state: SessionState,
  shape: Shape,
  id: string,
  { source, decision }: { source: EditSource; decision?: string },
): SessionState {
  const { basis, version, outcome } = standings(state, shape).get(id) as Standing;
  const chosen = decision ?? outcome?.decision;
  const edited: NodeOutcome = { id: sha256Of([id, version, source]), basis, ...defined({ decision: chosen }), source };
  return { ...state, nodes: { ...state.nodes, [id]: { version: version + 1, outcome: edited } } };
}
