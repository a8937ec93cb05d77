// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import type { AuditRecord, HandedOver, Pauses, WorkflowQuotas } from "@nova/service";
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
        before: { type: CustomAttributeType<number[]>("any") },
        deleted: number,
        touched: { type: CustomAttributeType<number[]>("any") },
        handedOver: { type: CustomAttributeType<HandedOver>("any") },
        leaving: { type: CustomAttributeType<AuditRecord>("any") },
        /** There while versions are touched: the keys of a sparse index. */
        open: { type: ["unsettled"] as const },
        ordered: { type: "string" },
        paused: { type: CustomAttributeType<Pauses>("any") },
        quotas: { type: CustomAttributeType<WorkflowQuotas>("any") },
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["workflowId"], template: "W#${workflowId}", casing: "none" },
          sk: { field: "sk", composite: [], template: "STATE", casing: "none" },
        },
        unsettled: {
          index: "open",
          pk: { field: "open", composite: ["open"], casing: "none" },
          sk: { field: "ordered", composite: ["ordered"], casing: "none" },
        },
      },
    },
    { client, table },
  );
}
