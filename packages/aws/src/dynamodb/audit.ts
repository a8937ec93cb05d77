import type { AuditAction, AuditLog, AuditRecord } from "@nova/service";
import { omitAbsent, optionalTexts, requiredText, requiredValue, requireFormat, texts } from "./fields.ts";
import { indexKeys, readSome, record, type Stored, type TableConnection, tableKeys, writeIf } from "./records.ts";

const everyClient = "*";
/** Sorts after every ULID. */
const afterAll = "~";

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
    /** `*` means every client; it is not a valid slug. */
    client: requiredText,
    detail: requiredValue<Record<string, string | number>>(),
  },
  {
    /** One partition takes a thousand writes a second; people cause a few a minute. */
    record: tableKeys("A", "A#{id}"),
    ofClient: indexKeys("by-client", "A#{client}", "{id}"),
  },
);
