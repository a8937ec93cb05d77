import { Names, type TraceEntry } from "@nova/engine";
import type { ShownExecution, ShownTrace } from "../api/recorded.ts";

/** A recorded run of a node. */
export interface Recorded {
  execution: Pick<ShownExecution, "id" | "workflowId" | "version">;
  entry: TraceEntry;
  /** The entries before it in the same line of steps, and in the lines around it. */
  before: readonly TraceEntry[];
  /** Its place: `find`, `poll#2`, `each[3].find`; `billing/send` in a child execution. */
  place: string;
  /** The place in the first execution of a series of restarts, which is part of `NOVA_RESTART_KEY`. */
  origin: { execution: string; place: string };
}

/** The node of a place: `find` for `each[3].find#2`. */
export function nodeOfPlace(place: string): string {
  return (place.split("/").at(-1) ?? "").replace(/^.*\]\./, "").replace(/#\d+$/, "");
}

/** Yields the recorded runs of all nodes in an execution, in order. `inside` includes child executions. */
export function* listRecorded(
  { execution, entries }: Pick<ShownTrace, "entries"> & Pick<Recorded, "execution">,
  inside = false,
) {
  const { execution_id = execution.id, place: around = "" } = entries[0]?.origin ?? {};
  const origin = { execution: execution_id, place: around };
  yield* walk({ execution, origin, names: new Names(), prefix: "", inside }, entries, []);
}

interface Walk extends Pick<Recorded, "execution" | "origin"> {
  names: Names;
  prefix: string;
  inside: boolean;
}

function* walk(all: Walk, entries: readonly TraceEntry[], around: readonly TraceEntry[]): Iterable<Recorded> {
  const { execution, origin: first, names, prefix, inside } = all;
  for (const [index, entry] of entries.entries()) {
    const before = [...around, ...entries.slice(0, index)];
    const place = prefix + names.of(entry);
    const origin = { ...first, place: first.place + place };
    yield { execution, entry, before, place, origin };
    for (const branch of entry.branches ?? []) yield* walk(all, branch.entries, [...before, entry]);
    if (!inside || !entry.child?.entries) continue;
    const { execution_id: id, workflow: workflowId, version } = entry.child;
    const child = { ...all, execution: { id, workflowId, version }, names: new Names(), prefix: `${place}/` };
    yield* walk(child, entry.child.entries, []);
  }
}
