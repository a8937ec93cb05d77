import { type AuditRecord, auditActions } from "@nova/service";
import { z } from "zod";
import { Time } from "./values.ts";

export const AuditItem = z
  .object({
    id: z.string(),
    at: Time,
    action: z.enum(auditActions),
    by: z.string().nullable().meta({ description: "id of the key; null: whoever set NOVA up" }),
    client_slug: z.string().nullable(),
    subject: z.string(),
    detail: z.record(z.string(), z.union([z.string(), z.number()])),
  })
  .meta({ id: "AuditRecord" });

export function auditItem({ id, at, action, by, client, subject, detail }: AuditRecord) {
  return { id, at, action, by, client_slug: client, subject, detail };
}
