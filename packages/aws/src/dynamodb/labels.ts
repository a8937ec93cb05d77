import type { Execution } from "@nova/engine";
import { FORMAT, texts } from "./fields.ts";
import { record, type TableConnection, tableKeys, writeIf } from "./records.ts";

/** Finds runs by a label. Runs with the same label share a partition and are sorted by time. */
export const labelRecord = record("label", texts("name", "value", "startedAt", "id", "client", "workflowId"), {
  record: tableKeys("LABEL#{name}#{value}", "{startedAt}#{id}"),
});

/** Writes the labels of a run, before its record: a list leaves out labels whose run has no record. */
export async function noteLabels(connection: TableConnection, execution: Execution): Promise<void> {
  const { id, client, workflowId, startedAt, labels = {} } = execution;
  const notes = labelRecord(connection);
  const common = { format: FORMAT, id, client, workflowId, startedAt };
  await Promise.all(Object.entries(labels).map(([name, value]) => writeIf(notes.create({ ...common, name, value }))));
}
