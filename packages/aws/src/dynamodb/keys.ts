import type { ApiKey, KeyStore } from "@nova/service";
import { omitAbsent, optionalTexts, requireFormat, text, texts } from "./fields.ts";
import {
  findItem,
  hasValues,
  indexKeys,
  readSome,
  record,
  type Stored,
  type TableConnection,
  tableKeys,
  writeIf,
} from "./records.ts";

/** DynamoDB refuses an empty key; a space sorts before every id. */
const beforeAll = " ";

/** API keys. Each item holds a digest of the secret, not the secret. */
export function createKeyStore(connection: TableConnection): KeyStore {
  const keys = keyRecord(connection);
  return {
    create: (key) => writeIf(keys.create(omitAbsent(key))),
    get: (id) => findItem(keys.get({ id }), keyOf),
    remove: (id) => writeIf(keys.remove({ id })),
    async list({ limit, after = beforeAll, client }) {
      const query = keys.query.all({}).gt({ id: after }).where(hasValues({ client }));
      return (await readSome(query, { count: limit })).map(keyOf);
    },
  };
}

function keyOf({ client, createdBy, ...key }: Stored<typeof keyRecord>): ApiKey {
  return { ...requireFormat(`key "${key.id}"`, key), client: client ?? null, createdBy: createdBy ?? null };
}

const keyRecord = record(
  "key",
  {
    ...texts("id", "name", "digest", "createdAt"),
    ...optionalTexts("createdBy"),
    role: { type: ["viewer", "runner", "editor", "admin"], required: true },
    /** Absent for keys that are valid for every client. */
    client: text,
  },
  {
    record: tableKeys("K#{id}", "K"),
    /** There are a few hundred keys, so one index partition is enough. */
    all: indexKeys("by-client", "KEYS", "{id}"),
  },
);
