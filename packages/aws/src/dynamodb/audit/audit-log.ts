import type { AuditAction, AuditLog, AuditRecord } from "@nova/service";
import { reaching, reachingIf } from "../../clients/outage.ts";
import type { TableConnection } from "../connection.ts";
import { checkFormat, FORMAT } from "../format.ts";
import { plainly } from "../options.ts";
import { whenAsked } from "../when-asked.ts";
import { type AuditItem, auditEntity } from "./audit-entity.ts";

const store = "DynamoDB";
const everyClient = "*";
/** Behind every ULID. */
const afterAll = "~";

/** Who did what; what was written stays. */
export function createAuditLog(connection: TableConnection): AuditLog {
  const entity = whenAsked(() => auditEntity(connection));
  return {
    async append({ by, client, ...record }) {
      const item = { ...record, client: client ?? everyClient, ...(by !== null && { by }) };
      await reachingIf(store, () => entity.create(item).go(plainly));
    },
    async list({ limit, after = afterAll, client }) {
      const all = client === undefined ? entity.query.record({}) : entity.query.ofClient({ client });
      const options = { ...plainly, order: "desc", count: limit } as const;
      const { data } = await reaching(store, () => all.lt({ id: after }).go(options));
      return data.map(recordOf);
    },
  };
}

function recordOf({ format, by, client, action, ...record }: AuditItem): AuditRecord {
  checkFormat(`audit record ${record.id}`, format);
  const whom = client === everyClient ? null : client;
  return { ...record, format: FORMAT, action: action as AuditAction, by: by ?? null, client: whom };
}
