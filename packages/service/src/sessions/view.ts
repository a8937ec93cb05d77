import * as engine from "@nova/engine";
import { wholeContext } from "../executions/executions.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { NodeOutcome, Session } from "../ports/sessions.ts";
import { listNodesBeside } from "./draft.ts";
import { buildDraftGraph } from "./draft-graph.ts";
import { enterMap, judgeFreshness, type NodeFreshness } from "./freshness.ts";
import { bodyOf, nodeOf } from "./scope.ts";

export interface NodeView {
  node_id: string;
  version: number;
  state: "fresh" | "stale";
  skipped: boolean;
  /** The source of the node's output; null if the node has no output. */
  source: { execution_id: string; scope: string; seq: number } | { edited_by: string; at: string } | null;
  decision: string | null;
}

export function nodeViews({ state }: Pick<Session, "state">): NodeView[] {
  return Array.from(judgeFreshness(state, buildDraftGraph(state.draft)), ([node, standing]) => viewOf(node, standing));
}

export interface InnerNodeView extends NodeView {
  /** The map that has the node in its body. */
  map: string;
}

/** Lists all nodes in the bodies of maps, with tools and fallbacks. The outputs belong to the first item. */
export function viewNodesInside({ state }: Pick<Session, "state">): InnerNodeView[] {
  return state.draft.nodes.flatMap((map) => {
    if (!bodyOf(map)) return [];
    const inner = { state: enterMap(state, map) };
    const never = { state: "stale", skipped: false, source: null, decision: null } as const;
    const beside = viewNodesBeside(inner).map(({ definition: _, ...view }) => ({ ...view, ...never }));
    const views = [...nodeViews(inner), ...beside].map((view) => ({ ...view, map: map.id }));
    return [...views, ...viewNodesInside(inner)];
  });
}

/** Lists the tools of agents and the fallbacks of code. */
export function viewNodesBeside({ state: { draft, nodes } }: Pick<Session, "state">) {
  return listNodesBeside(draft, draft.nodes).map((definition) => {
    const { id: node_id } = definition;
    return { node_id, version: nodes[node_id]?.version ?? 1, definition };
  });
}

function viewOf(node_id: string, { version, state, isSkipped: skipped, outcome }: NodeFreshness): NodeView {
  const source = outcome ? describeSource(outcome.source) : null;
  return { node_id, version, state, skipped, source, decision: outcome?.decision ?? null };
}

export interface OutputView extends NodeView {
  /**
   * The keys and values that the node set; null if it has no output. References replace large values that do not fit.
   */
  output: engine.RawJson | null;
  /** The error of a failed node whose `onError` node follows. */
  error: string | null;
}

export async function sessionOutputs(
  ports: Pick<ServicePorts, "chain" | "blobs">,
  session: Session,
  nodes: readonly string[] = [],
): Promise<OutputView[]> {
  for (const id of nodes) nodeOf(session.state.draft, id);
  const inside = viewNodesInside(session).map(({ map: _, ...view }) => view);
  const views =
    nodes.length === 0
      ? [...nodeViews(session), ...inside.filter(({ source }) => source !== null)]
      : [...nodeViews(session), ...inside].filter(({ node_id }) => nodes.includes(node_id));
  const outcomes = views.map(({ node_id }) => [node_id, session.state.nodes[node_id]?.outcome] as const);
  const values = await valuesOfAll(ports, outcomes);
  const home = homeOf(session);
  const secrets = engine.secretKeysOf({ workflow: session.state.draft.settings });
  return Promise.all(
    views.map(async (view) => {
      const found = values.get(view.node_id);
      const output =
        found && !found.error && (await wholeContext(ports, home, engine.shownContext(found.set, secrets)));
      return { ...view, output: output || null, error: found?.error?.failure.message ?? null };
    }),
  );
}

/** Returns the initial context of every run, as the API shows it. */
export function shownContextOf({ state: { context, draft } }: Session): engine.RawJson {
  return engine.shownContext(engine.membersOf(context), engine.secretKeysOf({ workflow: draft.settings }));
}

/**
 * Returns whether the nodes of a session run as a graph or one after the other, the reason, the order, and the errors
 * that prevent a run.
 */
export function describeDraftGraph({ state }: Session) {
  const { kind, why, order, findings } = buildDraftGraph(state.draft);
  return { kind, why, order, findings: findings.filter(({ severity }) => severity === "error") };
}

type Reads = Pick<ServicePorts, "chain" | "blobs">;

/** Returns the values of an outcome; undefined if its entry is gone. */
export async function valuesOf(ports: Reads, { source, decision }: NodeOutcome): Promise<engine.OutcomeAt | undefined> {
  if ("set" in source) return { set: engine.membersOf(source.set), delete: [], decision: decision ?? null };
  return engine.readOutcomeAt(ports, source);
}

/** Returns the values of outcomes by node id; nodes without values are missing. */
export async function valuesOfAll(ports: Reads, outcomes: Iterable<readonly [string, NodeOutcome | undefined]>) {
  const found = await engine.atOnce([...outcomes], async ([id, outcome]) => {
    const values = outcome && (await valuesOf(ports, outcome));
    return values ? [[id, values] as const] : [];
  });
  return new Map(found.flat());
}

/** Returns the home of the blobs of a session's executions and of hand-written outputs. */
export function homeOf({ client, id, state }: Session): engine.BlobHome {
  return { client, root: state.family?.root ?? rootOf(id) };
}

/**
 * Returns the id of the session's first execution. This id is known in advance, so that blobs have a home before there
 * is an execution.
 */
export function rootOf(session: string): string {
  return session.replace(/^ses_/, "exec_");
}

/** Returns the source of an outcome as the API shows it. */
export function describeSource(source: NodeOutcome["source"]) {
  if ("set" in source) return { edited_by: source.by, at: source.at };
  return { execution_id: source.execution, scope: source.scope, seq: source.seq };
}

/**
 * Returns the JSON text of one node in the outcome document: the outcome of the node, and the source of that outcome.
 */
export function documentPlace(
  { set, delete: deleted, decision, error }: engine.OutcomeAt,
  { source }: Pick<NodeOutcome, "source">,
): string {
  const from = { ...describeSource(source), ...("hash" in source && { hash: source.hash }) };
  const fields = [
    ...(set.length > 0 ? [{ key: "set", json: engine.objectText(set) }] : []),
    ...(deleted.length > 0 ? [{ key: "delete", json: JSON.stringify(deleted) }] : []),
    ...(decision !== null ? [{ key: "decision", json: JSON.stringify(decision) }] : []),
    ...(error ? [{ key: "error", json: JSON.stringify({ class: error.class, ...error.failure }) }] : []),
    { key: "from", json: JSON.stringify(from) },
  ];
  return engine.objectText(fields);
}
