import type { ApiKey, KeyStore } from "@nova/service";
import { optionalTexts, text, texts } from "./fields.ts";
import { current } from "./format.ts";
import { found, indexed, place, readSome, record, type Stored, type TableConnection, writeIf } from "./records.ts";

/** Keys of an item are never empty, and nothing sorts before a space. */
const beforeAll = " ";

/** Keys of the API, each with a digest of its secret. */
export function createKeyStore(connection: TableConnection): KeyStore {
  const keys = keyRecord(connection);
  return {
    create: ({ client, createdBy, ...key }) =>
      writeIf(keys.create({ ...key, ...(client !== null && { client }), ...(createdBy !== null && { createdBy }) })),
    get: (id) => found(keys.get({ id }), keyOf),
    remove: (id) => writeIf(keys.remove({ id })),
    async list({ limit, after = beforeAll, client }) {
      const query = keys.query.all({}).gt({ id: after });
      const own = client === undefined ? query : query.where((key, { eq }) => eq(key.client, client));
      return (await readSome(own, { count: limit })).map(keyOf);
    },
  };
}

function keyOf({ client, createdBy, ...key }: Stored<typeof keyRecord>): ApiKey {
  return { ...current(`key "${key.id}"`, key), client: client ?? null, createdBy: createdBy ?? null };
}

const keyRecord = record(
  "key",
  {
    ...texts("id", "name", "digest", "createdAt"),
    ...optionalTexts("createdBy"),
    role: { type: ["viewer", "runner", "editor", "admin"], required: true },
    /** Absent: every client. */
    client: text,
  },
  {
    record: place("K#{id}", "K"),
    /** Some hundred at most: one partition bears them. */
    all: indexed("by-client", "KEYS", "{id}"),
  },
);
