// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import { Entity, type EntityItem } from "electrodb";
import type { TableConnection } from "../connection.ts";
import { requiredNumber, requiredText, text } from "../fields.ts";

/** A workflow's generations lie in one partition, those of a node and a client side by side. */
export function generationEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "generation", version: "1" },
      attributes: {
        workflowId: requiredText,
        node: requiredText,
        /** Empty: for every client. */
        client: requiredText,
        key: requiredText,
        codeHash: requiredText,
        format: requiredNumber,
        /** JSON text: its names are dot paths and file names. */
        ingredients: requiredText,
        code: requiredText,
        analysis: text,
        analysisHash: text,
        status: { type: ["candidate", "pinned", "replaced"] as const, required: true },
        origin: { type: ["generated", "edited"] as const, required: true },
        model: requiredText,
        usd: requiredNumber,
        tokensInput: requiredNumber,
        tokensCached: requiredNumber,
        tokensOutput: requiredNumber,
        createdAt: requiredText,
        provenBy: text,
        approvedBy: text,
        approvedAt: text,
        embedding: { type: "list", items: { type: "number" } },
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["workflowId"], template: "G#${workflowId}", casing: "none" },
          sk: {
            field: "sk",
            composite: ["node", "client", "key", "codeHash"],
            template: "N#${node}#${client}#${key}#${codeHash}",
            casing: "none",
          },
        },
      },
    },
    { client, table },
  );
}

export type GenerationEntity = ReturnType<typeof generationEntity>;
export type GenerationItem = EntityItem<GenerationEntity>;
