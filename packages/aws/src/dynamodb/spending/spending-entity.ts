// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import { Entity } from "electrodb";
import type { TableConnection } from "../connection.ts";

const requiredText = { type: "string", required: true } as const;
const requiredNumber = { type: "number", required: true } as const;

/** What one node has cost a client. */
export function spendingEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "spending", version: "1" },
      attributes: {
        client: requiredText,
        /** `2026-11` */
        month: requiredText,
        execution: requiredText,
        scope: { type: "string", required: true },
        seq: requiredNumber,
        format: requiredNumber,
        usd: requiredNumber,
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["client", "month"], template: "M#${client}#${month}", casing: "none" },
          sk: {
            field: "sk",
            composite: ["execution", "scope", "seq"],
            template: "${execution}#${scope}#${seq}",
            casing: "none",
          },
        },
      },
    },
    { client, table },
  );
}
