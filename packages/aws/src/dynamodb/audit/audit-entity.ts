// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import { CustomAttributeType, Entity, type EntityItem } from "electrodb";
import type { TableConnection } from "../connection.ts";

const text = { type: "string" } as const;
const requiredText = { type: "string", required: true } as const;

/** Keys of an index need not be unique; ids sort by time. */
const byTime = { field: "ordered", composite: ["id"], template: "${id}", casing: "none" } as const;

export function auditEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "audit", version: "1" },
      attributes: {
        id: requiredText,
        format: { type: "number", required: true },
        at: requiredText,
        action: requiredText,
        by: text,
        /** `*`: every client. No slug looks so. */
        client: requiredText,
        subject: requiredText,
        detail: { type: CustomAttributeType<Record<string, string | number>>("any"), required: true },
      },
      indexes: {
        /** What people do, some a minute: one partition takes a thousand a second. */
        record: {
          pk: { field: "pk", composite: [], template: "A", casing: "none" },
          sk: { field: "sk", composite: ["id"], template: "A#${id}", casing: "none" },
        },
        ofClient: {
          index: "by-client",
          pk: { field: "clientKey", composite: ["client"], template: "A#${client}", casing: "none" },
          sk: byTime,
        },
      },
    },
    { client, table },
  );
}

export type AuditItem = EntityItem<ReturnType<typeof auditEntity>>;
