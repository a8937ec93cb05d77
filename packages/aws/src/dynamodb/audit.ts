import type { AuditAction, AuditLog, AuditRecord } from "@nova/service";
import { current, optionalTexts, present, requiredText, requiredValue, texts } from "./fields.ts";
import { indexed, place, readSome, record, type Stored, type TableConnection, writeIf } from "./records.ts";

const everyClient = "*";
/** Behind every ULID. */
const afterAll = "~";

/** Who did what; what was written stays. */
export function createAuditLog(connection: TableConnection): AuditLog {
  const log = auditRecord(connection);
  return {
    async append(record) {
      await writeIf(log.create(present({ ...record, client: record.client ?? everyClient })));
    },
    async list({ limit, after = afterAll, client }) {
      const all = client === undefined ? log.query.record({}) : log.query.ofClient({ client });
      return (await readSome(all.lt({ id: after }), { order: "desc", count: limit })).map(recordOf);
    },
  };
}

function recordOf({ by, client, action, ...item }: Stored<typeof auditRecord>): AuditRecord {
  const whom = client === everyClient ? null : client;
  return { ...current(`audit record ${item.id}`, item), action: action as AuditAction, by: by ?? null, client: whom };
}

const auditRecord = record(
  "audit",
  {
    ...texts("id", "at", "action", "subject"),
    ...optionalTexts("by"),
    /** `*`: every client. No slug looks so. */
    client: requiredText,
    detail: requiredValue<Record<string, string | number>>(),
  },
  {
    /** People do some things a minute: one partition takes a thousand a second. */
    record: place("A", "A#{id}"),
    /** Keys of an index need not be unique; ids sort by time. */
    ofClient: indexed("by-client", "A#{client}", "{id}"),
  },
);
