import type { ApiKey, KeyStore } from "@nova/service";
import { current, optionalTexts, present, text, texts } from "./fields.ts";
import {
  found,
  having,
  indexed,
  place,
  readSome,
  record,
  type Stored,
  type TableConnection,
  writeIf,
} from "./records.ts";

/** Keys of an item are never empty, and nothing sorts before a space. */
const beforeAll = " ";

/** Keys of the API, each with a digest of its secret. */
export function createKeyStore(connection: TableConnection): KeyStore {
  const keys = keyRecord(connection);
  return {
    create: (key) => writeIf(keys.create(present(key))),
    get: (id) => found(keys.get({ id }), keyOf),
    remove: (id) => writeIf(keys.remove({ id })),
    async list({ limit, after = beforeAll, client }) {
      const query = keys.query.all({}).gt({ id: after }).where(having({ client }));
      return (await readSome(query, { count: limit })).map(keyOf);
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
