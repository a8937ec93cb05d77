// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import { Entity, type EntityItem } from "electrodb";
import type { TableConnection } from "../connection.ts";

const requiredText = { type: "string", required: true } as const;
const requiredNumber = { type: "number", required: true } as const;

export function attemptEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "attempt", version: "1" },
      attributes: {
        principal: requiredText,
        client: { type: "string" },
        key: requiredText,
        format: requiredNumber,
        fingerprint: requiredText,
        id: requiredText,
        since: requiredText,
        made: { type: "string" },
        /** The table's time to live, seconds since the epoch. */
        expiresAt: requiredNumber,
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["principal", "key"], template: "I#${principal}#${key}", casing: "none" },
          sk: { field: "sk", composite: [], template: "I", casing: "none" },
        },
      },
    },
    { client, table },
  );
}

export type AttemptItem = EntityItem<ReturnType<typeof attemptEntity>>;
