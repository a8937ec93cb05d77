// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import { Entity, type EntityItem } from "electrodb";
import type { TableConnection } from "../connection.ts";
import { requiredNumber, requiredText } from "../fields.ts";

export function uploadEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "upload", version: "1" },
      attributes: {
        id: requiredText,
        format: requiredNumber,
        client: requiredText,
        bytes: requiredNumber,
        type: requiredText,
        sha256: { type: "string" },
        createdAt: requiredText,
        /** The table's time to live, seconds since the epoch. */
        expiresAt: requiredNumber,
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["id"], template: "U#${id}", casing: "none" },
          sk: { field: "sk", composite: [], template: "U", casing: "none" },
        },
        ofClient: {
          index: "by-client",
          pk: { field: "clientKey", composite: ["client"], template: "U#${client}", casing: "none" },
          sk: { field: "ordered", composite: ["id"], template: "${id}", casing: "none" },
        },
      },
    },
    { client, table },
  );
}

export type UploadItem = EntityItem<ReturnType<typeof uploadEntity>>;
