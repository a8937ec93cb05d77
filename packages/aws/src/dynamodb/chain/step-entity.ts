// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import { Entity } from "electrodb";
import type { TableConnection } from "../connection.ts";

const requiredText = { type: "string", required: true } as const;

/** One agent run of a node, in the partition of its link. */
export function stepEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "step", version: "1" },
      attributes: {
        partition: requiredText,
        scope: requiredText,
        seq: { type: "number", required: true, padding: { length: 10, char: "0" } },
        /** Padded, so that step 10 lies behind step 9. */
        step: { type: "number", required: true, padding: { length: 4, char: "0" } },
        format: { type: "number", required: true },
        text: requiredText,
        hash: requiredText,
      },
      indexes: {
        chain: {
          pk: { field: "pk", composite: ["partition"], template: "C#${partition}", casing: "none" },
          sk: {
            field: "sk",
            composite: ["scope", "seq", "step"],
            template: "S#${scope}#${seq}#${step}",
            casing: "none",
          },
        },
      },
    },
    { client, table },
  );
}
