import { listAudit } from "@nova/service";
import { route } from "../http/route.ts";
import { AuditItem, auditItem } from "../schemas/audit.ts";
import { ListQuery, listAnswer, listOf, pageQuery } from "../schemas/list.ts";
import { Slug } from "../schemas/values.ts";

export const list = route({
  method: "GET",
  path: "/audit",
  summary: "Who did what, newest first; of one client, where the query or the key names it",
  role: "admin",
  query: ListQuery.extend({ client: Slug.optional() }),
  answers: { 200: { description: "a page", schema: listOf(AuditItem) } },
  async handle(ports, { by, query: { client, ...rest } }) {
    const of = { ...pageQuery(rest, /^[0-9A-Z]{26}$/), ...(client !== undefined && { client }) };
    return listAnswer(await listAudit(ports, by, of), auditItem);
  },
});
