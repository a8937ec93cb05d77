import type { ApiKey, KeyStore } from "@nova/service";
import { reaching, reachingIf } from "../../clients/outage.ts";
import type { TableConnection } from "../connection.ts";
import { checkFormat, FORMAT } from "../format.ts";
import { consistently, plainly } from "../options.ts";
import { whenAsked } from "../when-asked.ts";
import { type KeyItem, keyEntity } from "./key-entity.ts";

const store = "DynamoDB";
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
