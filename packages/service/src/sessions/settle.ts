import { atOnce, referencesIn, runHeads } from "@nova/engine";
import { ulid } from "ulid";
import { hasEnded } from "../executions/execute.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { NodeOutcome, NodeRecord, Session, SessionRun } from "../ports/sessions.ts";
import { changed } from "./history.ts";
import { type CameTo, withOutcomes } from "./standing.ts";

/** A start that was lost is no run of the session any more. */
const lostMs = 60_000;

/**
 * With what its executions have come to since it was written; nothing tells a session of their end. Outcomes of executions
 * that were erased are gone. Writes nothing.
 */
export async function settled(ports: ServicePorts, session: Session): Promise<Session> {
  let current = await withoutErased(ports, session);
  for (const run of session.state.runs) {
    const record = await ports.executions.get(run.execution);
    // A record that says how it ended may be read before its tip.
    const isOver = record && hasEnded(record) && record.tip !== undefined;
    if (record && !record.erased && !isOver) continue;
    if (!record && ports.clock.now() - Date.parse(run.at) < lostMs) continue;
    const cameTo = record && !record.erased ? await outcomesOf(ports, run) : new Map<string, CameTo>();
    const state = withOutcomes(current.state, run.execution, cameTo);
    const nodes = [...cameTo.keys()].join(", ");
    const what = nodes === "" ? `${run.execution} came to nothing` : `${run.execution} came to outputs of ${nodes}`;
    current = changed(ports, { ...current, state }, run.by, { what });
  }
  return current;
}

/** What an execution came to, for the nodes that it ran for the session. */
async function outcomesOf(ports: ServicePorts, run: SessionRun): Promise<Map<string, CameTo>> {
  const cameTo = new Map<string, CameTo>();
  const maps = new Set<string>();
  for await (const { head, hash } of runHeads(ports, run.execution)) {
    const { node_id, node_type, scope, seq, status, decision_result: decision, path_taken, reused_from } = head;
    if (node_type === "map") maps.add(node_id);
    // What the items of a map came to is the map's, and in its join.
    const fork = node_type === "join" ? node_id.replace(/\.join$/, "") : undefined;
    const node = fork !== undefined && maps.has(fork) ? fork : node_id;
    const isBegun = node_type === "map" && status === "success";
    if (!run.nodes[node] || reused_from || isBegun || (status === "failed" && path_taken === null)) continue;
    cameTo.set(node, {
      id: hash,
      ...(decision !== null && { decision }),
      ...(status === "failed" && { failed: true as const }),
      source: { execution: run.execution, scope, seq, hash },
    });
  }
  return cameTo;
}

/** Without outcomes whose executions were erased: the nodes have to run again. */
async function withoutErased(ports: Pick<ServicePorts, "executions" | "clock">, session: Session): Promise<Session> {
  const { nodes, family } = session.state;
  const named = new Set(
    Object.values(nodes).flatMap(({ outcome }) =>
      outcome && "hash" in outcome.source ? [outcome.source.execution] : [],
    ),
  );
  if (family?.last !== undefined) named.add(family.last);
  const records = await atOnce([...named], (id) => ports.executions.get(id));
  const erased = new Set(records.flatMap((record) => (record?.erased ? [record.id] : [])));
  if (erased.size === 0) return session;
  // With the last one its blobs may be gone: the next execution begins a family of its own.
  const isOver = family?.last !== undefined && erased.has(family.last);
  const isGone = ({ source }: NodeOutcome) =>
    "hash" in source ? erased.has(source.execution) : isOver && referencesIn(source.set).length > 0;
  const kept = Object.entries(nodes).map(([id, record]): [string, NodeRecord] => {
    const { outcome, version } = record;
    return [id, outcome && isGone(outcome) ? { version: version + 1 } : record];
  });
  const next = isOver ? { family: { root: `exec_${ulid(ports.clock.now())}` } } : {};
  return { ...session, state: { ...session.state, ...next, nodes: Object.fromEntries(kept) } };
}
