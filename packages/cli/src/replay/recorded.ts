import { Names, type TraceEntry } from "@nova/engine";
import type { ShownExecution, ShownTrace } from "../api/recorded.ts";

/** One run of a node, as the chain of work has it. */
export interface Recorded {
  execution: Pick<ShownExecution, "id" | "workflowId" | "version">;
  entry: TraceEntry;
  /** What ran before it in the same line of steps, and in those around it. */
  before: readonly TraceEntry[];
  /** `find`, `poll#2`, `each[3].find`; `billing/send` in an execution that a node ran. */
  place: string;
  /** This place in the first run of all restarts: `NOVA_RESTART_KEY` consists of it. */
  origin: { execution: string; place: string };
}

/** The node of a place: of `each[3].find#2` it is `find`. */
export function nodeAt(place: string): string {
  return (place.split("/").at(-1) ?? "").replace(/^.*\]\./, "").replace(/#\d+$/, "");
}

/** Every run of a node in an execution, in order; `inside`: those of executions that its nodes ran, too. */
export function* recordedIn(
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
