import { RawJson, type TraceEntry } from "@nova/engine";
import type { ShownTrace } from "../../../packages/cli/src/api/recorded.ts";
import { nothingAtWork } from "../../../packages/engine/src/trace/read-state.ts";

/** Returns a trace of a completed run with these entries. `more` replaces fields of the run. */
export function traceOf(entries: TraceEntry[], more: Partial<ShownTrace> = {}): ShownTrace {
  return {
    execution_id: "exec_1",
    workflow: "w",
    version: 1,
    client: "default",
    status: "completed",
    started_at: "now",
    started_by: null,
    ended_at: null,
    duration_ms: null,
    error: null,
    labels: {},
    nodes: null,
    parent: null,
    restarted_from: null,
    restarts: [],
    spent: null,
    trigger: null,
    path: [],
    context: new RawJson("{}"),
    at_work: nothingAtWork,
    state_machine_pages: [],
    entries,
    ...more,
  };
}
