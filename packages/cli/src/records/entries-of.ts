import type { TraceEntry } from "@nova/engine";

/** Entries of all branches in the order in which they were made. */
export function entriesOf({ entries }: { entries: readonly TraceEntry[] }): TraceEntry[] {
  const all = (list: readonly TraceEntry[]): TraceEntry[] =>
    list.flatMap((entry) => [entry, ...(entry.branches ?? []).flatMap((branch) => all(branch.entries))]);
  return all(entries).sort((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0));
}
