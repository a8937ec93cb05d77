import { setTimeout as sleep } from "node:timers/promises";
import type { TraceEntry } from "@nova/engine";
import type { Records } from "./records.ts";
import type { ShownTrace } from "./shown.ts";

const firstPauseMs = 100;
const longestPauseMs = 2_000;

/** The chain of work whenever the execution is looked at, the last time when it is over. */
export async function* followTrace(records: Pick<Records, "trace">, id: string): AsyncGenerator<ShownTrace> {
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
    const trace = await records.trace(id, { full: true });
    yield trace;
    if (!trace.execution.open) return;
    await sleep(pauseMs);
  }
}

/** Entries of all branches in the order in which they were made. */
export function entriesOf({ entries }: Pick<ShownTrace, "entries">): TraceEntry[] {
  const all = (list: readonly TraceEntry[]): TraceEntry[] =>
    list.flatMap((entry) => [entry, ...(entry.branches ?? []).flatMap((branch) => all(branch.entries))]);
  return all(entries).sort((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0));
}
