import { listAudit, surveyPart } from "@nova/service";
import { checkHealth } from "../health.ts";
import { openRoute, route } from "../http/route.ts";
import { AuditItem } from "../schemas/client.ts";
import { FormatItem, Health } from "../schemas/deployment.ts";
import { cursorOf, listOf, listRoute, placeIn, ScanQuery, TablePlace } from "../schemas/list.ts";
import { Slug } from "../schemas/values.ts";
import { viewOf } from "../schemas/view.ts";

export const health = openRoute("GET /health", {
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
export const formats = route("GET /formats", {
  summary: "How many records of each kind and format are stored, part by part, and whether this release reads them",
  role: "admin",
  query: ScanQuery,
  answers: { 200: { description: "a page", schema: listOf(FormatItem) } },
  async handle(ports, { by, query }) {
    const { formats: items, cursor } = await surveyPart(ports, by, placeIn(query, TablePlace));
    return { items, next_cursor: cursorOf(cursor) };
  },
});

export const audit = listRoute("/audit", {
  summary: "Who did what, newest first; of one client, where the query or the key names it",
  role: "admin",
  query: { client: Slug.optional() },
  item: AuditItem,
  cursor: /^[0-9A-Z]{26}$/,
  list: (ports, { by, query, page }) => listAudit(ports, by, { ...page, ...query }),
  show: (record) => viewOf(AuditItem, record, { client_slug: record.client }),
});
