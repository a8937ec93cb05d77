// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import type { NodeFigures, RunStats, StatsQuery, StatsStore } from "@nova/service";
import { CustomAttributeType, Entity, type EntityItem } from "electrodb";
import { reaching } from "../clients/outage.ts";
import type { TableConnection } from "./connection.ts";
import { requiredNumber, requiredText } from "./fields.ts";
import { checkFormat, FORMAT } from "./format.ts";
import { plainly, store } from "./options.ts";
import { whenAsked } from "./when-asked.ts";

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

const byEnd = ["endedAt", "execution"] as const;
const endTemplate = "${endedAt}#${execution}";

/** Of a workflow in the order in which its runs ended: any range of days is one query. */
function statsEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "stats", version: "1" },
      attributes: {
        execution: requiredText,
        format: requiredNumber,
        workflowId: requiredText,
        version: requiredNumber,
        client: requiredText,
        status: { type: ["completed", "failed", "cancelled", "interrupted"] as const, required: true },
        endedAt: requiredText,
        durationMs: requiredNumber,
        failure: { type: CustomAttributeType<NonNullable<RunStats["failure"]>>("any") },
        nodes: { type: CustomAttributeType<Record<string, NodeFigures>>("any"), required: true },
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["workflowId"], template: "F#${workflowId}", casing: "none" },
          sk: { field: "sk", composite: [...byEnd], template: endTemplate, casing: "none" },
        },
        ofClient: {
          index: "by-client",
          pk: { field: "clientKey", composite: ["client"], template: "F#${client}", casing: "none" },
          sk: { field: "ordered", composite: [...byEnd], template: endTemplate, casing: "none" },
        },
      },
    },
    { client, table },
  );
}

type StatsEntity = ReturnType<typeof statsEntity>;
type StatsItem = EntityItem<StatsEntity>;
