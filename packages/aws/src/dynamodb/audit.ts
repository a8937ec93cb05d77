// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how ElectroDB writes key templates

import type { AuditAction, AuditLog, AuditRecord } from "@nova/service";
import { CustomAttributeType, Entity, type EntityItem } from "electrodb";
import { reaching, reachingIf } from "../clients/outage.ts";
import type { TableConnection } from "./connection.ts";
import { requiredNumber, requiredText, text } from "./fields.ts";
import { checkFormat, FORMAT } from "./format.ts";
import { plainly, store } from "./options.ts";
import { whenAsked } from "./when-asked.ts";

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

/** Keys of an index need not be unique; ids sort by time. */
const byTime = { field: "ordered", composite: ["id"], template: "${id}", casing: "none" } as const;

function auditEntity({ client, table }: TableConnection) {
  return new Entity(
    {
      model: { service: "nova", entity: "audit", version: "1" },
      attributes: {
        id: requiredText,
        format: requiredNumber,
        at: requiredText,
        action: requiredText,
        by: text,
        /** `*`: every client. No slug looks so. */
        client: requiredText,
        subject: requiredText,
        detail: { type: CustomAttributeType<Record<string, string | number>>("any"), required: true },
      },
      indexes: {
        /** What people do, some a minute: one partition takes a thousand a second. */
        record: {
          pk: { field: "pk", composite: [], template: "A", casing: "none" },
          sk: { field: "sk", composite: ["id"], template: "A#${id}", casing: "none" },
        },
        ofClient: {
          index: "by-client",
          pk: { field: "clientKey", composite: ["client"], template: "A#${client}", casing: "none" },
          sk: byTime,
        },
      },
    },
    { client, table },
  );
}

type AuditItem = EntityItem<ReturnType<typeof auditEntity>>;
