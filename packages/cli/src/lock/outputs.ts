import type { TraceEntry } from "@nova/engine";

/**
 * What `outputs[node]` was for a node, from what ran before it: JSON text of what each set last. Of parallel branches
 * that were joined by then each node counts, of a map its list of results.
 */
export function outputsAfter(before: readonly TraceEntry[]): Map<string, string> {
  const outputs = new Map<string, string>();
  let fork: TraceEntry | undefined;
  for (const entry of before) {
    if (entry.status === "success" && entry.node_type !== "close") {
      const isJoin = entry.node_type === "join";
      if (!isJoin) outputs.set(entry.node_id, entry.changes.set.text);
      else if (fork?.node_type === "map") outputs.set(fork.node_id, entry.changes.set.text);
      else for (const { entries } of fork?.branches ?? []) addAll(outputs, outputsAfter(entries));
    }
    fork = entry;
  }
  return outputs;
}

function addAll(outputs: Map<string, string>, more: Map<string, string>): void {
  for (const [node, text] of more) outputs.set(node, text);
}
