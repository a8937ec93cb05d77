import { atOnce, type BlobHome, membersOf, type OutcomeAt, objectText, outcomeAt } from "@nova/engine";
import type { ServicePorts } from "../ports/index.ts";
import type { NodeOutcome, Session } from "../ports/sessions.ts";

type Reads = Pick<ServicePorts, "chain" | "blobs">;

/** What an outcome holds; undefined where its entry is gone. */
export async function valuesOf(ports: Reads, { source, decision }: NodeOutcome): Promise<OutcomeAt | undefined> {
  if ("set" in source) return { set: membersOf(source.set), delete: [], decision: decision ?? null };
  return outcomeAt(ports, source);
}

/** The same of many nodes, by their ids; those that have none are missing. */
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

/** Where the blobs of a session's executions lie, and what people write by hand. */
export function homeOf({ client, id, state }: Session): BlobHome {
  return { client, root: state.family?.root ?? rootOf(id) };
}

/** The first execution of a session gets this id, so that there is a place for what is written before it. */
export function rootOf(session: string): string {
  return session.replace(/^ses_/, "exec_");
}

/** Where an outcome is from, as people see it. */
export function shownSource(source: NodeOutcome["source"]) {
  if ("set" in source) return { edited_by: source.by, at: source.at };
  return { execution_id: source.execution, scope: source.scope, seq: source.seq };
}

/** One place of a document of outcomes: what the node there came to, and from where. */
export function documented(
  { set, delete: deleted, decision, error }: OutcomeAt,
  { source }: Pick<NodeOutcome, "source">,
): string {
  const from = { ...shownSource(source), ...("hash" in source && { hash: source.hash }) };
  const fields = [
    ...(set.length > 0 ? [{ key: "set", json: objectText(set) }] : []),
    ...(deleted.length > 0 ? [{ key: "delete", json: JSON.stringify(deleted) }] : []),
    ...(decision !== null ? [{ key: "decision", json: JSON.stringify(decision) }] : []),
    ...(error ? [{ key: "error", json: JSON.stringify({ class: error.class, ...error.failure }) }] : []),
    { key: "from", json: JSON.stringify(from) },
  ];
  return objectText(fields);
}
