import type { ApiKey, AttemptStore, AuditAction, AuditLog, AuditRecord, KeyStore, RateStore } from "@nova/service";
import {
  afterAll,
  beforeAll,
  FORMAT,
  findItem,
  hasValues,
  indexKeys,
  numbers,
  omitAbsent,
  optionalTexts,
  readItem,
  readSome,
  record,
  requiredText,
  requiredValue,
  requireFormat,
  type Stored,
  type TableConnection,
  tableKeys,
  text,
  texts,
  updateItem,
  writeIf,
} from "./records.ts";

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
    ...optionalTexts("createdBy", "identity"),
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

/** A counter expires this long after its window ends. */
const keptSeconds = 60;
/** Stands for every client; it is not a valid slug. */
const everyClient = "*";

/**
 * Counts the requests of each API key per time window. Counters name the client, so that the erasure of a client finds
 * its counters.
 */
export function createRateStore(connection: TableConnection): RateStore {
  return {
    async add(by, { beginsAt, seconds }, count, limit) {
      const key = { pk: `R#${by.id}`, sk: `R#${new Date(beginsAt).toISOString()}` };
      const added = await updateItem(connection, key, {
        update: "ADD #taken :count SET #format = :format, #expiresAt = :expiresAt, #client = :client",
        condition: "attribute_not_exists(#taken) OR #taken <= :most",
        values: {
          count,
          most: limit - count,
          format: FORMAT,
          expiresAt: Math.floor(beginsAt / 1000) + seconds + keptSeconds,
          client: by.client ?? everyClient,
        },
      });
      return added !== undefined;
    },
  };
}

/** The time of a released request. It is so old that the next request with the key may take over immediately. */
const longAgo = new Date(0).toISOString();

/**
 * Requests with an idempotency key, kept for a day. DynamoDB deletes expired items late, so a new request also replaces
 * an item whose `expiresAt` has passed.
 */
export function createAttemptStore(connection: TableConnection): AttemptStore {
  const attempts = attemptRecord(connection);
  return {
    async begin(attempt, now) {
      const put = attempts
        .put(attempt)
        .where(({ expiresAt }, { lt, notExists }) => `${notExists(expiresAt)} OR ${lt(expiresAt, now / 1000)}`);
      if (await writeIf(put)) return undefined;
      const item = await readItem(attempts.get(attempt));
      // If the SDK repeats a put whose answer was lost, it finds the attempt that it has stored itself. That attempt
      // does not count as an earlier one.
      return item && item.id !== attempt.id ? requireFormat(`attempt ${item.id}`, item) : undefined;
    },
    takeOver: (name, since, now) =>
      writeIf(
        attempts
          .patch(name)
          .set({ since: now })
          .where((attempt, { eq, notExists }) => `${eq(attempt.since, since)} AND ${notExists(attempt.made)}`),
      ),
    async finish(name, made) {
      await writeIf(attempts.patch(name).set({ made }));
    },
    async release(name) {
      await writeIf(attempts.patch(name).set({ since: longAgo }));
    },
  };
}

const attemptRecord = record(
  "attempt",
  {
    ...texts("principal", "key", "fingerprint", "id", "since"),
    ...optionalTexts("client", "made"),
    ...numbers("expiresAt"),
  },
  { record: tableKeys("I#{principal}#{key}", "I") },
);

/** Records of what each person changed. The store can only add records. */
export function createAuditLog(connection: TableConnection): AuditLog {
  const log = auditRecord(connection);
  return {
    async append(record) {
      await writeIf(log.create(omitAbsent({ ...record, client: record.client ?? everyClient })));
    },
    async list({ limit, after = afterAll, client }) {
      const all = client === undefined ? log.query.record({}) : log.query.ofClient({ client });
      return (await readSome(all.lt({ id: after }), { order: "desc", count: limit })).map(recordOf);
    },
  };
}

function recordOf({ by, client, action, ...item }: Stored<typeof auditRecord>): AuditRecord {
  const whom = client === everyClient ? null : client;
  return {
    ...requireFormat(`audit record ${item.id}`, item),
    action: action as AuditAction,
    by: by ?? null,
    client: whom,
  };
}

const auditRecord = record(
  "audit",
  {
    ...texts("id", "at", "action", "subject"),
    ...optionalTexts("by"),
    client: requiredText,
    detail: requiredValue<Record<string, string | number>>(),
  },
  {
    /** All records share one partition, which takes a thousand writes a second. People cause a few a minute. */
    record: tableKeys("A", "A#{id}"),
    ofClient: indexKeys("by-client", "A#{client}", "{id}"),
  },
);
