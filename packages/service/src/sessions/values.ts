import { atOnce, type BlobHome, membersOf, type OutcomeAt, objectText, readOutcomeAt } from "@nova/engine";
import type { ServicePorts } from "../ports/index.ts";
import type { NodeOutcome, Session } from "../ports/sessions.ts";

type Reads = Pick<ServicePorts, "chain" | "blobs">;

/** The values of an outcome; undefined if its entry is gone. */
export async function valuesOf(ports: Reads, { source, decision }: NodeOutcome): Promise<OutcomeAt | undefined> {
  if ("set" in source) return { set: membersOf(source.set), delete: [], decision: decision ?? null };
  return readOutcomeAt(ports, source);
}

/** The values of outcomes by node id; nodes without values are missing. */
export async function valuesOfAll(
  ports: Reads,
  outcomes: Iterable<readonly [string, NodeOutcome | undefined]>,
): Promise<Map<string, OutcomeAt>> {
  const found = await atOnce([...outcomes], async ([id, outcome]) => {
    const values = outcome && (await valuesOf(ports, outcome));
    return values ? [[id, values] as const] : [];
  });
  return new Map(found.flat());
}

/** The home of the blobs of a session's executions and of hand-written outputs. */
export function homeOf({ client, id, state }: Session): BlobHome {
  return { client, root: state.family?.root ?? rootOf(id) };
}

/** The id of the session's first execution, known in advance, so blobs written before it have a home. */
export function rootOf(session: string): string {
  return session.replace(/^ses_/, "exec_");
}

/** The source of an outcome as the API shows it. */
export function describeSource(source: NodeOutcome["source"]) {
  if ("set" in source) return { edited_by: source.by, at: source.at };
  return { execution_id: source.execution, scope: source.scope, seq: source.seq };
}

/** One place of the outcome document: the outcome of a node, and its source. */
export function documentPlace(
  { set, delete: deleted, decision, error }: OutcomeAt,
  { source }: Pick<NodeOutcome, "source">,
): string {
  const from = { ...describeSource(source), ...("hash" in source && { hash: source.hash }) };
  const fields = [
    ...(set.length > 0 ? [{ key: "set", json: objectText(set) }] : []),
    ...(deleted.length > 0 ? [{ key: "delete", json: JSON.stringify(deleted) }] : []),
    ...(decision !== null ? [{ key: "decision", json: JSON.stringify(decision) }] : []),
    ...(error ? [{ key: "error", json: JSON.stringify({ class: error.class, ...error.failure }) }] : []),
    { key: "from", json: JSON.stringify(from) },
  ];
  return objectText(fields);
}
