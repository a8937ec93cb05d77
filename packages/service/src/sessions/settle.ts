import { atOnce, referencesIn, runHeads } from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { ulid } from "ulid";
import { hasEnded } from "../executions/execute.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { NodeOutcome, NodeRecord, Session, SessionChange, SessionRun } from "../ports/sessions.ts";
import { addOutcomes, type RunOutcome } from "./freshness.ts";

/** After this time, an execution without a record was never started. */
const lostMs = 60_000;

/**
 * Returns the session with the outcomes of its ended executions, which no event reports, and without outcomes of erased
 * executions. Stores nothing.
 */
export async function settleSession(ports: ServicePorts, session: Session): Promise<Session> {
  let current = await dropErased(ports, session);
  for (const run of session.state.runs) {
    const record = await ports.executions.get(run.execution);
    // The record may show the end before the last entry is known.
    const isOver = record && hasEnded(record) && record.tip !== undefined;
    if (record && !record.erased && !isOver) continue;
    if (!record && ports.clock.now() - Date.parse(run.at) < lostMs) continue;
    const outcomes = record && !record.erased ? await readOutcomes(ports, run) : new Map<string, RunOutcome>();
    const state = addOutcomes(current.state, run.execution, outcomes);
    const nodes = [...outcomes.keys()].join(", ");
    const what = nodes === "" ? `${run.execution} produced no output` : `${run.execution} produced outputs of ${nodes}`;
    current = recordChange(ports, { ...current, state }, run.by, { what });
  }
  return current;
}

/** The outcomes of an execution, for the nodes that it ran for the session. */
async function readOutcomes(ports: ServicePorts, run: SessionRun): Promise<Map<string, RunOutcome>> {
  const outcomes = new Map<string, RunOutcome>();
  const maps = new Set<string>();
  for await (const { head, hash } of runHeads(ports, run.execution)) {
    const { node_id, node_type, scope, seq, status, decision_result: decision, path_taken, reused_from } = head;
    if (node_type === "map") maps.add(node_id);
    // The outcome of a map is in its join.
    const fork = node_type === "join" ? node_id.replace(/\.join$/, "") : undefined;
    const node = fork !== undefined && maps.has(fork) ? fork : node_id;
    const isBegun = node_type === "map" && status === "success";
    if (!run.nodes[node] || reused_from || isBegun || (status === "failed" && path_taken === null)) continue;
    outcomes.set(node, {
      id: hash,
      ...(decision !== null && { decision }),
      ...(status === "failed" && { failed: true as const }),
      source: { execution: run.execution, scope, seq, hash },
    });
  }
  return outcomes;
}

/** Drops outcomes of erased executions, so their nodes run again. */
async function dropErased(ports: Pick<ServicePorts, "executions" | "clock">, session: Session): Promise<Session> {
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
  // If the last execution is erased, the shared blobs may be gone, so the next execution starts a new family.
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

/** Number of changes that conflict messages can quote. */
const keptChanges = 50;

/** Returns the session with the next revision and a record of the change. */
export function recordChange(
  { clock }: Pick<ServicePorts, "clock">,
  session: Session,
  by: string,
  told: Pick<SessionChange, "what" | "node">,
): Session {
  const revision = session.revision + 1;
  const version = told.node === undefined ? undefined : session.state.nodes[told.node]?.version;
  const change = { revision, at: new Date(clock.now()).toISOString(), by, ...told, ...defined({ version }) };
  const changes = [...session.state.changes, change].slice(-keptChanges);
  return { ...session, revision, state: { ...session.state, changes } };
}
