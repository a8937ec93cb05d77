// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates

import type { ApiKey, KeyStore } from "@nova/service";
import { Entity, type EntityItem } from "electrodb";
import { reaching, reachingIf } from "../clients/outage.ts";
import type { TableConnection } from "./connection.ts";
import { requiredNumber, requiredText, text } from "./fields.ts";
import { checkFormat, FORMAT } from "./format.ts";
import { consistently, plainly, store } from "./options.ts";
import { whenAsked } from "./when-asked.ts";

/** Keys of an item are never empty, and nothing sorts before a space. */
const beforeAll = " ";

/** Keys of the API, each with a digest of its secret. */
export function createKeyStore(connection: TableConnection): KeyStore {
  const entity = whenAsked(() => keyEntity(connection));
  return {
    create: ({ client, createdBy, ...key }) =>
      reachingIf(store, () =>
        entity
          .create({ ...key, ...(client !== null && { client }), ...(createdBy !== null && { createdBy }) })
          .go(plainly),
      ),
    async get(id) {
      const { data } = await reaching(store, () => entity.get({ id }).go(consistently));
      return data ? keyOf(data) : undefined;
    },
    remove: (id) => reachingIf(store, () => entity.remove({ id }).go(plainly)),
    async list({ limit, after = beforeAll, client }) {
      const query = entity.query.all({}).gt({ id: after });
      const own = client === undefined ? query : query.where((key, { eq }) => eq(key.client, client));
      const { data } = await reaching(store, () => own.go({ ...plainly, count: limit }));
      return data.map(keyOf);
    },
  };
}

function keyOf({ format, client, createdBy, ...key }: KeyItem): ApiKey {
  checkFormat(`key "${key.id}"`, format);
  return { ...key, format: FORMAT, client: client ?? null, createdBy: createdBy ?? null };
}

function keyEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "key", version: "1" },
      attributes: {
        id: requiredText,
        format: requiredNumber,
        role: { type: ["viewer", "runner", "editor", "admin"] as const, required: true },
        /** Absent: every client. */
        client: text,
        name: requiredText,
        digest: requiredText,
        createdAt: requiredText,
        createdBy: text,
      },
      indexes: {
        record: {
          pk: { field: "pk", composite: ["id"], template: "K#${id}", casing: "none" },
          sk: { field: "sk", composite: [], template: "K", casing: "none" },
        },
        /** Some hundred at most: one partition bears them. */
        all: {
          index: "by-client",
          pk: { field: "clientKey", composite: [], template: "KEYS", casing: "none" },
          sk: { field: "ordered", composite: ["id"], template: "${id}", casing: "none" },
        },
      },
    },
    { client, table },
  );
}

type KeyItem = EntityItem<ReturnType<typeof keyEntity>>;
