// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import { Entity, type EntityItem } from "electrodb";
import type { TableConnection } from "../connection.ts";

const text = { type: "string" } as const;
const requiredText = { type: "string", required: true } as const;

export function keyEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "key", version: "1" },
      attributes: {
        id: requiredText,
        format: { type: "number", required: true },
        role: { type: ["viewer", "runner", "editor", "admin"] as const, required: true },
        /** Absent: every client. */
        client: text,
        name: { type: "string", required: true },
        digest: requiredText,
        createdAt: requiredText,
        createdBy: text,
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["id"], template: "K#${id}", casing: "none" },
          sk: { field: "sk", composite: [], template: "K", casing: "none" },
        },
        /** Some hundred at most: one partition bears them. */
        all: {
          index: "by-client",
          pk: { field: "clientKey", composite: [], template: "KEYS", casing: "none" },
          sk: { field: "ordered", composite: ["id"], template: "${id}", casing: "none" },
        },
      },
    },
    { client, table },
  );
}

export type KeyItem = EntityItem<ReturnType<typeof keyEntity>>;
