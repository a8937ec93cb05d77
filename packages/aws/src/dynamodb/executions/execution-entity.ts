// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import type { ExecutionError, Parent, Sandbox, Spending } from "@nova/engine";
import { CustomAttributeType, Entity, type EntityItem } from "electrodb";
import type { TableConnection } from "../connection.ts";
import { requiredNumber, requiredText, text } from "../fields.ts";

const number = { type: "number" } as const;

/** All three indexes order by time; the id behind it makes the order total. */
const byTime = {
  field: "ordered",
  composite: ["startedAt", "id"],
  template: "${startedAt}#${id}",
  casing: "none",
} as const;

export function executionEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "execution", version: "1" },
      attributes: {
        id: requiredText,
        format: requiredNumber,
        workflowId: requiredText,
        version: requiredNumber,
        stateMachineArn: requiredText,
        client: requiredText,
        root: requiredText,
        parent: { type: CustomAttributeType<Parent>("any") },
        status: {
          type: ["queued", "running", "waiting", "completed", "failed", "cancelled", "interrupted"] as const,
          required: true,
        },
        startedAt: requiredText,
        endedAt: text,
        durationMs: number,
        error: { type: CustomAttributeType<ExecutionError>("any") },
        nodes: number,
        spent: { type: CustomAttributeType<Spending>("any") },
        tip: text,
        pools: { type: CustomAttributeType<string[]>("any") },
        endPublished: { type: "boolean" },
        admission: text,
        erased: { type: CustomAttributeType<true>("boolean") },
        /** The key of a sparse index: open executions, and those that have left sandboxes for others. */
        open: { type: ["open", "idle"] as const },
        idle: { type: CustomAttributeType<Sandbox[]>("any") },
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["id"], template: "E#${id}", casing: "none" },
          sk: { field: "sk", composite: [], template: "E", casing: "none" },
        },
        ofWorkflow: {
          index: "by-workflow",
          pk: { field: "workflowKey", composite: ["workflowId"], template: "W#${workflowId}", casing: "none" },
          sk: byTime,
        },
        ofClient: {
          index: "by-client",
          pk: { field: "clientKey", composite: ["client"], template: "C#${client}", casing: "none" },
          sk: byTime,
        },
        open: { index: "open", pk: { field: "open", composite: ["open"], casing: "none" }, sk: byTime },
      },
    },
    { client, table },
  );
}

export type ExecutionEntity = ReturnType<typeof executionEntity>;
export type ExecutionItem = EntityItem<ExecutionEntity>;
