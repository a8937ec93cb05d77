// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import { Entity } from "electrodb";
import type { TableConnection } from "../connection.ts";
import { requiredText } from "../fields.ts";

/** Tokens lie beside their task, one item each, encrypted. */
export function tokenEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "token", version: "1" },
      attributes: {
        execution: requiredText,
        id: requiredText,
        key: requiredText,
        format: { type: "number", required: true },
        sealed: requiredText,
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["execution"], template: "T#${execution}", casing: "none" },
          sk: { field: "sk", composite: ["id", "key"], template: "K#${id}#${key}", casing: "none" },
        },
      },
    },
    { client, table },
  );
}
