// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import type { WorkflowQuotas } from "@nova/service";
import { CustomAttributeType, Entity } from "electrodb";
import type { TableConnection } from "../connection.ts";

const number = { type: "number" } as const;

export function workflowStateEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "workflow-state", version: "1" },
      attributes: {
        workflowId: { type: "string", required: true },
        format: { type: "number", required: true },
        active: number,
        deleted: number,
        quotas: { type: CustomAttributeType<WorkflowQuotas>("any") },
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["workflowId"], template: "W#${workflowId}", casing: "none" },
          sk: { field: "sk", composite: [], template: "STATE", casing: "none" },
        },
      },
    },
    { client, table },
  );
}
