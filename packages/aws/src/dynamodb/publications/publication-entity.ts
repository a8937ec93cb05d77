// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import type { HandedOver } from "@nova/service";
import { CustomAttributeType, Entity, type EntityItem } from "electrodb";
import type { TableConnection } from "../connection.ts";

const text = { type: "string" } as const;
const requiredText = { type: "string", required: true } as const;
const byWorkflow = {
  composite: ["workflowId", "version"],
  template: "P#${workflowId}#${version}",
  casing: "none",
} as const;

/** Beside the versions: one that is `ready` has its definition there. */
export function publicationEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "publication", version: "1" },
      attributes: {
        workflowId: requiredText,
        version: { type: "number", required: true, padding: { length: 10, char: "0" } },
        format: { type: "number", required: true },
        status: { type: ["publishing", "ready", "failed"] as const, required: true },
        reason: text,
        hash: requiredText,
        /** JSON text of the normalised definition; absent where it lies in S3. */
        definition: text,
        template: requiredText,
        createdAt: requiredText,
        handedOver: { type: CustomAttributeType<HandedOver>("any") },
        /** There while it is `publishing`: the key of a sparse index. */
        open: { type: ["publications"] as const },
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["workflowId"], template: "W#${workflowId}", casing: "none" },
          sk: { field: "sk", composite: ["version"], template: "P#${version}", casing: "none" },
        },
        all: {
          index: "by-workflow",
          pk: { field: "workflowKey", composite: [], template: "PUBLICATIONS", casing: "none" },
          sk: { field: "ordered", ...byWorkflow },
        },
        pending: {
          index: "open",
          pk: { field: "open", composite: ["open"], casing: "none" },
          sk: { field: "ordered", ...byWorkflow },
        },
      },
    },
    { client, table },
  );
}

export type PublicationEntity = ReturnType<typeof publicationEntity>;
export type PublicationItem = EntityItem<PublicationEntity>;
