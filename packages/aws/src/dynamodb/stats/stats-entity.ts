// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import type { NodeFigures, RunStats } from "@nova/service";
import { CustomAttributeType, Entity, type EntityItem } from "electrodb";
import type { TableConnection } from "../connection.ts";

const requiredText = { type: "string", required: true } as const;
const requiredNumber = { type: "number", required: true } as const;
const byEnd = ["endedAt", "execution"] as const;
const endTemplate = "${endedAt}#${execution}";

/** Of a workflow in the order in which its runs ended: any range of days is one query. */
export function statsEntity({ client, table }: TableConnection) {
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

export type StatsEntity = ReturnType<typeof statsEntity>;
export type StatsItem = EntityItem<StatsEntity>;
