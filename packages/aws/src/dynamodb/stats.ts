import type { NodeFigures, RunStats, StatsStore } from "@nova/service";
import { numbers, requiredValue, requireFormat, texts, value } from "./fields.ts";
import { indexKeys, readEach, record, type TableConnection, tableKeys, writeItem } from "./records.ts";

/** Sort before and after every id, so that a range includes both of its end times. */
const [beforeEveryId, afterEveryId] = [" ", "~"];

/** Statistics of ended runs. */
export function createStatsStore(connection: TableConnection): StatsStore {
  const stats = statsRecord(connection);
  return {
    put: (run) => writeItem(stats.put(run)),
    async *read({ workflow, client, from, to }) {
      const index =
        workflow === undefined ? stats.query.ofClient({ client }) : stats.query.record({ workflowId: workflow });
      const [first, last] = [
        { endedAt: from, execution: beforeEveryId },
        { endedAt: to, execution: afterEveryId },
      ];
      for await (const item of readEach(index.between(first, last)))
        if (client === undefined || item.client === client)
          yield requireFormat(`the figures of execution "${item.execution}"`, item);
    },
  };
}

/** Sorted by the time when a run ended, so that any range of days is one query. */
const statsRecord = record(
  "stats",
  {
    ...texts("execution", "workflowId", "client", "endedAt"),
    ...numbers("version", "durationMs"),
    status: { type: ["completed", "failed", "cancelled", "interrupted"], required: true },
    failure: value<NonNullable<RunStats["failure"]>>(),
    nodes: requiredValue<Record<string, NodeFigures>>(),
  },
  {
    record: tableKeys("F#{workflowId}", "{endedAt}#{execution}"),
    ofClient: indexKeys("by-client", "F#{client}", "{endedAt}#{execution}"),
  },
);
