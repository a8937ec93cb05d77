// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates
import { Entity, type EntityItem } from "electrodb";
import type { TableConnection } from "../connection.ts";
import { requiredNumber, requiredText } from "../fields.ts";

/** What all have: `expiresAt` is the table's time to live, seconds since the epoch. */
const common = { format: requiredNumber, expiresAt: requiredNumber } as const;

/** A task under one key. Its client's name is there for whoever erases it. */
export function wakeEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "wake", version: "1" },
      attributes: {
        ...common,
        key: requiredText,
        id: requiredText,
        execution: requiredText,
        client: { type: "string" },
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["key"], template: "WAKE#${key}", casing: "none" },
          sk: { field: "sk", composite: ["id"], template: "T#${id}", casing: "none" },
        },
      },
    },
    { client, table },
  );
}

/** A shape that is in use, JSON text, and whether events are kept for it; all in one partition. */
export function shapeEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "wake-shape", version: "1" },
      attributes: {
        ...common,
        name: requiredText,
        shape: requiredText,
        keepsEvents: { type: "boolean", required: true },
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: [], template: "SHAPE#", casing: "none" },
          sk: { field: "sk", composite: ["name"], template: "S#${name}", casing: "none" },
        },
      },
    },
    { client, table },
  );
}

/** An event under one key: its text, or where that lies in the bucket. */
export function keptEventEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "kept-event", version: "1" },
      attributes: {
        ...common,
        key: requiredText,
        at: requiredText,
        id: requiredText,
        text: { type: "string" },
        object: { type: "string" },
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["key"], template: "WAKE#${key}", casing: "none" },
          sk: { field: "sk", composite: ["at", "id"], template: "E#${at}#${id}", casing: "none" },
        },
      },
    },
    { client, table },
  );
}

export type KeptEventItem = EntityItem<ReturnType<typeof keptEventEntity>>;
