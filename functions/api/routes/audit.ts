import { listAudit } from "@nova/service";
import { route } from "../http/route.ts";
import { AuditItem, auditItem } from "../schemas/audit.ts";
import { ListQuery, listAnswer, listOf, pageQuery } from "../schemas/list.ts";

export const list = route({
  method: "GET",
  path: "/audit",
  summary: "Who did what, newest first; with a key of one client, what was about that one",
  role: "admin",
  query: ListQuery,
  answers: { 200: { description: "a page", schema: listOf(AuditItem) } },
  handle: async (ports, { by, query }) =>
    listAnswer(await listAudit(ports, by, pageQuery(query, /^[0-9A-Z]{26}$/)), auditItem),
});
