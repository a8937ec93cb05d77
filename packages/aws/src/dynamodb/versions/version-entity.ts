// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import { Entity, type EntityItem } from "electrodb";
import type { TableConnection } from "../connection.ts";
import { requiredText, text } from "../fields.ts";

export function versionEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "version", version: "1" },
      attributes: {
        workflowId: requiredText,
        version: { type: "number", required: true, padding: { length: 10, char: "0" } },
        format: { type: "number", required: true },
        hash: requiredText,
        /** JSON text of the normalised definition; absent where it lies in S3. */
        definition: text,
        /** JSON text of the budget of its histories, where its loops go on in further executions. */
        history: text,
        template: requiredText,
        stateMachineArn: requiredText,
        createdAt: requiredText,
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["workflowId"], template: "W#${workflowId}", casing: "none" },
          sk: { field: "sk", composite: ["version"], template: "V#${version}", casing: "none" },
        },
        all: {
          index: "by-workflow",
          pk: { field: "workflowKey", composite: [], template: "VERSIONS", casing: "none" },
          sk: {
            field: "ordered",
            composite: ["workflowId", "version"],
            template: "${workflowId}#${version}",
            casing: "none",
          },
        },
      },
    },
    { client, table },
  );
}

export type VersionEntity = ReturnType<typeof versionEntity>;
export type VersionItem = EntityItem<VersionEntity>;
