import { type Member, objectText } from "@nova/workflow";
import { type Head, headOf } from "../../../packages/engine/src/chain/entry.ts";
import { failureOf, readChanges } from "../../../packages/engine/src/chain/position.ts";
import type { Ports } from "../../../packages/engine/src/ports/index.ts";

/**
 * Returns the outcome of an entry in the form of a document of places (`chain/outcomes.ts` of the engine). Large values
 * are references to blobs that all restarts of the run share. Returns null for a start, an end, a join, a close, and a
 * map that has not failed itself.
 */
export async function writeOutcome(
  ports: Pick<Ports, "chain" | "blobs">,
  head: Pick<Head, "execution_id" | "scope" | "seq" | "node_type" | "status">,
): Promise<string | null> {
  const { execution_id, scope, seq, node_type, status } = head;
  if (["start", "end", "join", "close"].includes(node_type) || (node_type === "map" && status === "success"))
    return null;
  const { entry } = await ports.chain.read({ execution: execution_id, scope, seq });
  if (!entry || !("context" in entry.contents)) return null;
  const { decision_result, error_class, reused_from: earlier, edited } = headOf(entry);
  const { execution = execution_id, ...link } = earlier ?? { scope, seq, hash: entry.hash };
  const from = edited ? { edited_by: edited.by, at: edited.at } : { execution_id: execution, ...link };
  const changes = await readChanges(entry, ports.blobs);
  const error = status === "failed" && { class: error_class, ...(await failureOf(entry, ports.blobs)) };
  const member = (key: string, value: unknown): Member => ({ key, json: JSON.stringify(value) });
  return objectText([
    ...(error ? [member("error", error)] : [{ key: "set", json: objectText(changes.set) }]),
    ...(changes.delete.length > 0 ? [member("delete", changes.delete)] : []),
    ...(decision_result === null ? [] : [member("decision", decision_result)]),
    member("from", from),
  ]);
}
