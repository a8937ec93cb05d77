// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import { credentialKindNames } from "@nova/engine";
import { Entity, type EntityItem } from "electrodb";
import type { TableConnection } from "../connection.ts";

const requiredText = { type: "string", required: true } as const;

export function credentialEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "credential", version: "1" },
      attributes: {
        /** `client:<slug>` or `workflow:<id>`. */
        owner: requiredText,
        name: requiredText,
        format: { type: "number", required: true },
        kind: { type: credentialKindNames, required: true },
        sealed: requiredText,
        key: requiredText,
        revision: { type: "number", required: true },
        changedAt: requiredText,
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["owner"], template: "S#${owner}", casing: "none" },
          sk: { field: "sk", composite: ["name"], template: "N#${name}", casing: "none" },
        },
        /** For a change of keys; some thousand, read once in a long while. */
        all: {
          index: "by-client",
          pk: { field: "clientKey", composite: [], template: "CREDENTIALS", casing: "none" },
          sk: { field: "ordered", composite: ["owner", "name"], template: "${owner}#${name}", casing: "none" },
        },
      },
    },
    { client, table },
  );
}

export type CredentialItem = EntityItem<ReturnType<typeof credentialEntity>>;
