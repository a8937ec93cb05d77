// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import type { ClientQuotas, Erasing } from "@nova/service";
import type { OnFailure } from "@nova/workflow";
import { CustomAttributeType, Entity, type EntityItem } from "electrodb";
import type { TableConnection } from "../connection.ts";

const requiredText = { type: "string", required: true } as const;

export function clientEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "client", version: "1" },
      attributes: {
        slug: requiredText,
        format: { type: "number", required: true },
        name: requiredText,
        pins: { type: CustomAttributeType<Record<string, number>>("any"), required: true },
        variables: { type: "string" },
        erasedUntil: { type: "string" },
        quotas: { type: CustomAttributeType<ClientQuotas>("any") },
        onFailure: { type: CustomAttributeType<OnFailure>("any") },
        createdAt: requiredText,
        erasing: { type: CustomAttributeType<Erasing>("any") },
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["slug"], template: "CLIENT#${slug}", casing: "none" },
          sk: { field: "sk", composite: [], template: "CLIENT", casing: "none" },
        },
        all: {
          index: "by-client",
          pk: { field: "clientKey", composite: [], template: "CLIENTS", casing: "none" },
          sk: { field: "ordered", composite: ["slug"], template: "${slug}", casing: "none" },
        },
      },
    },
    { client, table },
  );
}

export type ClientItem = EntityItem<ReturnType<typeof clientEntity>>;
