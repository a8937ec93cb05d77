import type { Execution } from "@nova/engine";
import { FORMAT, texts } from "./fields.ts";
import { place, record, type TableConnection, writeIf } from "./records.ts";

/** The keys by which a run is found through one of its labels. Runs with the same label lie together, ordered by time. */
export const labelRecord = record("label", texts("name", "value", "startedAt", "id", "client", "workflowId"), {
  record: place("LABEL#{name}#{value}", "{startedAt}#{id}"),
});

/** Before the record of the run: a list finds nothing there until that is written. */
export async function noteLabels(connection: TableConnection, execution: Execution): Promise<void> {
  const { id, client, workflowId, startedAt, labels = {} } = execution;
  const notes = labelRecord(connection);
  const common = { format: FORMAT, id, client, workflowId, startedAt };
  await Promise.all(Object.entries(labels).map(([name, value]) => writeIf(notes.create({ ...common, name, value }))));
}
