import type { NodeFigures, RunStats, StatsStore } from "@nova/service";
import { current, numbers, requiredValue, texts, value } from "./fields.ts";
import { each, indexed, place, record, type TableConnection, write } from "./records.ts";

/** Around every id, so that both ends of a range are in it. */
const [beforeEveryId, afterEveryId] = [" ", "~"];

/** Figures of runs. */
export function createStatsStore(connection: TableConnection): StatsStore {
  const stats = statsRecord(connection);
  return {
    put: (run) => write(stats.put(run)),
    async *read({ workflow, client, from, to }) {
      const index =
        workflow === undefined ? stats.query.ofClient({ client }) : stats.query.record({ workflowId: workflow });
      const [first, last] = [
        { endedAt: from, execution: beforeEveryId },
        { endedAt: to, execution: afterEveryId },
      ];
      for await (const item of each(index.between(first, last)))
        if (client === undefined || item.client === client)
          yield current(`the figures of execution "${item.execution}"`, item);
    },
  };
}

/** Of a workflow in the order in which its runs ended: any range of days is one query. */
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
    record: place("F#{workflowId}", "{endedAt}#{execution}"),
    ofClient: indexed("by-client", "F#{client}", "{endedAt}#{execution}"),
  },
);
