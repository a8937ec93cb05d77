import type { RunStats, StatsQuery, StatsStore } from "@nova/service";
import { reaching } from "../../clients/outage.ts";
import type { TableConnection } from "../connection.ts";
import { checkFormat, FORMAT } from "../format.ts";
import { plainly } from "../options.ts";
import { whenAsked } from "../when-asked.ts";
import { type StatsEntity, type StatsItem, statsEntity } from "./stats-entity.ts";

const store = "DynamoDB";
/** Behind every id, so that both ends of a range are in it. */
const [beforeEveryId, afterEveryId] = [" ", "~"];

/** Figures of runs. */
export function createStatsStore(connection: TableConnection): StatsStore {
  const entity = whenAsked(() => statsEntity(connection));
  return {
    async put(stats) {
      await reaching(store, () => entity.put(stats).go(plainly));
    },
    read: (query) => readRange(entity, query),
  };
}

async function* readRange(entity: StatsEntity, { workflow, client, from, to }: StatsQuery): AsyncGenerator<RunStats> {
  const index =
    workflow === undefined ? entity.query.ofClient({ client }) : entity.query.record({ workflowId: workflow });
  const range = index.between({ endedAt: from, execution: beforeEveryId }, { endedAt: to, execution: afterEveryId });
  let cursor: string | null = null;
  do {
    const page = await reaching(store, () => range.go({ ...plainly, cursor }));
    for (const item of page.data) if (client === undefined || item.client === client) yield statsOf(item);
    cursor = page.cursor;
  } while (cursor);
}

function statsOf({ format, ...item }: StatsItem): RunStats {
  checkFormat(`the figures of execution "${item.execution}"`, format);
  return { ...item, format: FORMAT };
}
