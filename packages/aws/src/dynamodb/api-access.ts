import type { ApiKey, AttemptStore, AuditAction, AuditLog, AuditRecord, KeyStore, RateStore } from "@nova/service";
import * as db from "./records.ts";

/** Creates the store of API keys. Each item holds a digest of the secret, not the secret. */
export function createKeyStore(connection: db.TableConnection): KeyStore {
  const keys = keyRecord(connection);
  return {
    create: (key) => db.writeIf(keys.create(db.omitAbsent(key))),
    get: (id) => db.findItem(keys.get({ id }), keyOf),
    remove: (id) => db.writeIf(keys.remove({ id })),
    async list({ limit, after = db.beforeAll, client }) {
      const query = keys.query.all({}).gt({ id: after }).where(db.hasValues({ client }));
      return (await db.readSome(query, { count: limit })).map(keyOf);
    },
  };
}

function keyOf({ client, createdBy, ...key }: db.Stored<typeof keyRecord>): ApiKey {
  return { ...db.requireFormat(`key "${key.id}"`, key), client: client ?? null, createdBy: createdBy ?? null };
}

const keyRecord = db.record(
  "key",
  {
    ...db.texts("id", "name", "digest", "createdAt"),
    ...db.optionalTexts("createdBy", "identity"),
    role: { type: ["viewer", "runner", "editor", "admin"], required: true },
    /** Absent for keys that are valid for every client. */
    client: db.text,
  },
  {
    record: db.tableKeys("K#{id}", "K"),
    /** There are a few hundred keys, so one index partition is enough. */
    all: db.indexKeys("by-client", "KEYS", "{id}"),
  },
);

/** A counter expires this long after its window ends. */
const keptSeconds = 60;
/** Stands for every client; it is not a valid slug. */
const everyClient = "*";

/**
 * Creates the store that counts the requests of each API key per time window. A counter names the client of the key, so
 * that the erasure of the client finds it.
 */
export function createRateStore(connection: db.TableConnection): RateStore {
  return {
    async add(by, { beginsAt, seconds }, count, limit) {
      const key = { pk: `R#${by.id}`, sk: `R#${new Date(beginsAt).toISOString()}` };
      const added = await db.updateItem(connection, key, {
        update: "ADD #taken :count SET #format = :format, #expiresAt = :expiresAt, #client = :client",
        condition: "attribute_not_exists(#taken) OR #taken <= :most",
        values: {
          count,
          most: limit - count,
          format: db.FORMAT,
          expiresAt: Math.floor(beginsAt / 1000) + seconds + keptSeconds,
          client: by.client ?? everyClient,
        },
      });
      return added !== undefined;
    },
  };
}

/**
 * The start time that a released request gets. It is so old that the next request with the same key may take over
 * immediately.
 */
const longAgo = new Date(0).toISOString();

/**
 * Creates the store of requests with an idempotency key, which are kept for a day. DynamoDB deletes expired items late,
 * so a new request also replaces an item whose `expiresAt` has passed.
 */
export function createAttemptStore(connection: db.TableConnection): AttemptStore {
  const attempts = attemptRecord(connection);
  return {
    async begin(attempt, now) {
      const put = attempts
        .put(attempt)
        .where(({ expiresAt }, { lt, notExists }) => `${notExists(expiresAt)} OR ${lt(expiresAt, now / 1000)}`);
      if (await db.writeIf(put)) return undefined;
      const item = await db.readItem(attempts.get(attempt));
      // If the answer to a put is lost, the SDK repeats the put, which then fails because the first put has stored the
      // attempt. This attempt does not count as an earlier attempt.
      return item && item.id !== attempt.id ? db.requireFormat(`attempt ${item.id}`, item) : undefined;
    },
    takeOver(name, since, now) {
      const patch = attempts.patch(name).set({ since: now });
      return db.writeIf(patch.where(db.isUnchanged({ since, made: undefined })));
    },
    async finish(name, made) {
      await db.writeIf(attempts.patch(name).set({ made }));
    },
    async release(name) {
      await db.writeIf(attempts.patch(name).set({ since: longAgo }));
    },
  };
}

const attemptRecord = db.record(
  "attempt",
  {
    ...db.texts("principal", "key", "fingerprint", "id", "since"),
    ...db.optionalTexts("client", "made"),
    ...db.numbers("expiresAt"),
  },
  { record: db.tableKeys("I#{principal}#{key}", "I") },
);

/** Creates the store of audit records, which say what each person changed. The store can only add records. */
export function createAuditLog(connection: db.TableConnection): AuditLog {
  const log = auditRecord(connection);
  return {
    async append(record) {
      await db.writeIf(log.create(db.omitAbsent({ ...record, client: record.client ?? everyClient })));
    },
    async list({ limit, after = db.afterAll, client }) {
      const all = client === undefined ? log.query.record({}) : log.query.ofClient({ client });
      return (await db.readSome(all.lt({ id: after }), { order: "desc", count: limit })).map(recordOf);
    },
  };
}

function recordOf({ by, client, action, ...item }: db.Stored<typeof auditRecord>): AuditRecord {
  const whom = client === everyClient ? null : client;
  return {
    ...db.requireFormat(`audit record ${item.id}`, item),
    action: action as AuditAction,
    by: by ?? null,
    client: whom,
  };
}

const auditRecord = db.record(
  "audit",
  {
    ...db.texts("id", "at", "action", "subject"),
    ...db.optionalTexts("by"),
    client: db.requiredText,
    detail: db.requiredValue<Record<string, string | number>>(),
  },
  {
    /** All records share one partition, which takes a thousand writes a second. People cause a few records a minute. */
    record: db.tableKeys("A", "A#{id}"),
    ofClient: db.indexKeys("by-client", "A#{client}", "{id}"),
  },
);
