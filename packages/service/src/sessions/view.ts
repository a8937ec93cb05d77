import { membersOf, type RawJson, secretKeysOf, shownContext } from "@nova/engine";
import { wholeContext } from "../executions/executions.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Session } from "../ports/sessions.ts";
import { nodeOf } from "./draft.ts";
import { shapeOf } from "./shape.ts";
import { type Standing, standings } from "./standing.ts";
import { homeOf, shownSource, valuesOfAll } from "./values.ts";

/** How one node stands. */
export interface NodeView {
  node_id: string;
  version: number;
  state: "fresh" | "stale";
  /** No way leads to it, as the decisions before it stand. */
  skipped: boolean;
  /** Where its output is from; null: it has none. */
  source: { execution_id: string; scope: string; seq: number } | { edited_by: string; at: string } | null;
  /** What a decision, or a person, chose. */
  decision: string | null;
}

/** How the steps of a session stand, in the order in which they run. */
export function nodeViews({ state }: Session): NodeView[] {
  return Array.from(standings(state, shapeOf(state.draft)), ([node, standing]) => viewOf(node, standing));
}

function viewOf(node_id: string, { version, state, isSkipped: skipped, outcome }: Standing): NodeView {
  const source = outcome ? shownSource(outcome.source) : null;
  return { node_id, version, state, skipped, source, decision: outcome?.decision ?? null };
}

export interface OutputView extends NodeView {
  /** Keys and values that the node has set, large ones in their places as far as there is room; null: none. */
  output: RawJson | null;
  /** What it failed with, where its `onError` goes on. */
  error: string | null;
}

/** Outputs of these nodes, or of all. Throws `NotFound` for one that is not there. */
export async function sessionOutputs(
  ports: Pick<ServicePorts, "chain" | "blobs">,
  session: Session,
  nodes: readonly string[] = [],
): Promise<OutputView[]> {
  for (const id of nodes) nodeOf(session.state.draft, id);
  const views = nodeViews(session).filter(({ node_id }) => nodes.length === 0 || nodes.includes(node_id));
  const outcomes = views.map(({ node_id }) => [node_id, session.state.nodes[node_id]?.outcome] as const);
  const values = await valuesOfAll(ports, outcomes);
  const home = homeOf(session);
  const secrets = secretKeysOf({ workflow: session.state.draft.settings });
  return Promise.all(
    views.map(async (view) => {
      const found = values.get(view.node_id);
      const output = found && !found.error && (await wholeContext(ports, home, shownContext(found.set, secrets)));
      return { ...view, output: output || null, error: found?.error?.failure.message ?? null };
    }),
  );
}

/** What every run of the draft begins with, as people may see it. */
export function shownContextOf({ state: { context, draft } }: Session): RawJson {
  return shownContext(membersOf(context), secretKeysOf({ workflow: draft.settings }));
}

/** How a session runs, and what keeps it from running. */
export function sessionShape({ state }: Session) {
  const { kind, why, order, findings } = shapeOf(state.draft);
  return { kind, why, order, findings: findings.filter(({ severity }) => severity === "error") };
}
