// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import { Entity, type EntityItem } from "electrodb";
import type { TableConnection } from "../connection.ts";

const text = { type: "string" } as const;
const requiredText = { type: "string", required: true } as const;
const requiredNumber = { type: "number", required: true } as const;

/** Ids sort by time. */
const byTime = { field: "ordered", composite: ["id"], template: "${id}", casing: "none" } as const;

export function deliveryEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "delivery", version: "1" },
      attributes: {
        key: requiredText,
        format: requiredNumber,
        id: requiredText,
        type: { type: ["mail", "imap", "webhook", "schedule", "event"] as const, required: true },
        /** `*`: nobody can say which one. No id of a workflow, no slug looks so. */
        workflow: requiredText,
        client: requiredText,
        trigger: text,
        at: requiredText,
        from: requiredText,
        about: requiredText,
        dedupe: requiredText,
        status: { type: ["accepted", "started", "refused", "failed"] as const, required: true },
        execution: text,
        reason: text,
        /** The table's time to live, seconds since the epoch. */
        expiresAt: requiredNumber,
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["key"], template: "DELIVERY#${key}", casing: "none" },
          sk: { field: "sk", composite: [], template: "DELIVERY", casing: "none" },
        },
        ofWorkflow: {
          index: "by-workflow",
          pk: { field: "workflowKey", composite: ["workflow"], template: "DELIVERY#${workflow}", casing: "none" },
          sk: byTime,
        },
        ofClient: {
          index: "by-client",
          pk: { field: "clientKey", composite: ["client"], template: "DELIVERY#${client}", casing: "none" },
          sk: byTime,
        },
      },
    },
    { client, table },
  );
}

export type DeliveryEntity = ReturnType<typeof deliveryEntity>;
export type DeliveryItem = EntityItem<DeliveryEntity>;
