// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import { CustomAttributeType, Entity } from "electrodb";
import type { TableConnection } from "../connection.ts";
import { requiredText } from "../fields.ts";

/** A run in the queue of a pool; ids of runs sort by the time of their arrival. */
export function ticketEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "ticket", version: "1" },
      attributes: {
        pool: requiredText,
        execution: requiredText,
        format: { type: "number", required: true },
        /** All the pools of which the run needs a slot. */
        pools: { type: CustomAttributeType<string[]>("any"), required: true },
      },
      indexes: {
        queue: {
          pk: { field: "pk", composite: ["pool"], template: "Q#${pool}", casing: "none" },
          sk: { field: "sk", composite: ["execution"], template: "T#${execution}", casing: "none" },
        },
      },
    },
    { client, table },
  );
}

/** A pool that has had a queue: a sweeper looks for them. */
export function poolEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "pool", version: "1" },
      attributes: { pool: requiredText, format: { type: "number", required: true } },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["pool"], template: "Q#${pool}", casing: "none" },
          sk: { field: "sk", composite: [], template: "POOL", casing: "none" },
        },
        all: {
          index: "by-client",
          pk: { field: "clientKey", composite: [], template: "POOLS", casing: "none" },
          sk: { field: "ordered", composite: ["pool"], template: "${pool}", casing: "none" },
        },
      },
    },
    { client, table },
  );
}
