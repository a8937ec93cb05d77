import { listAudit, surveyPart } from "@nova/service";
import { checkHealth } from "../health.ts";
import { openRoute, route } from "../http/route.ts";
import { AuditItem, auditItem } from "../schemas/client.ts";
import { FormatItem, Health } from "../schemas/deployment.ts";
import { cursorOf, ListQuery, listAnswer, listOf, pageQuery, placeIn, ScanQuery, TablePlace } from "../schemas/list.ts";
import { Slug } from "../schemas/values.ts";

export const health = openRoute({
  method: "GET",
  path: "/health",
  summary: "State and latency of everything that runs need; looked at every five seconds at most",
  answers: {
    200: { description: "runs can start; `degraded`: their code or models cannot be reached", schema: Health },
    503: { description: "runs cannot start", schema: Health },
  },
  async serve(ports) {
    const found = await checkHealth(ports, process.env);
    return { status: found.status === "down" ? 503 : 200, body: found };
  },
});

/** Each page counts what a part of the table holds: the same kind may be on many of them. */
export const formats = route({
  method: "GET",
  path: "/formats",
  summary: "How many records of each kind and format are stored, part by part, and whether this release reads them",
  role: "admin",
  query: ScanQuery,
  answers: { 200: { description: "a page", schema: listOf(FormatItem) } },
  async handle(ports, { by, query }) {
    const { formats: items, cursor } = await surveyPart(ports, by, placeIn(query, TablePlace));
    return { status: 200, body: { items, next_cursor: cursorOf(cursor) } };
  },
});

export const audit = route({
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
