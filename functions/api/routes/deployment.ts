import { auditActions, formatStates, listAudit, rotateSigningKey, surveyPart } from "@nova/service";
import { z } from "zod";
import { checkHealth, Health } from "../health.ts";
import { openRoute, route } from "../http/route.ts";
import { cursorOf, listOf, listRoute, placeIn, ScanQuery, TablePlace } from "../schemas/list.ts";
import { named, Slug, Time, viewOf } from "../schemas/values.ts";

const FormatItem = named("StoredFormat", {
  entity: z.string(),
  format: z.int().nullable().describe("null: the items have no format"),
  items: z.int(),
  state: z.enum(formatStates).describe("this version reads `current` and `older`"),
});

const AuditItem = named("AuditRecord", {
  id: z.string(),
  at: Time,
  action: z.enum(auditActions),
  by: z.string().nullable().describe("id of the key; null: the administrator who set NOVA up"),
  client_slug: z.string().nullable(),
  subject: z.string(),
  detail: z.record(z.string(), z.union([z.string(), z.number()])),
});

const Seconds = z.int().min(0);

const PublicKeyItem = z
  .object({
    kty: z.literal("EC"),
    crv: z.literal("P-256"),
    x: z.string(),
    y: z.string(),
    use: z.literal("sig"),
    alg: z.literal("ES256"),
    kid: z.string().describe("the thumbprint of the key (RFC 7638)"),
    nbf: Seconds.describe("seconds since 1970 from which the key signs"),
    exp: Seconds.optional().describe("seconds since 1970 before which it signs; absent: it is in use"),
  })
  .meta({ id: "PublicKey", description: "a key that checks the signatures of chains (RFC 7517)" });

export const publicKeys = openRoute("GET /.well-known/nova-keys.json", {
  summary: "Every public key that ever signed the end of a run, the oldest first, as a JWK set",
  answers: { 200: { description: "the keys", schema: z.object({ keys: z.array(PublicKeyItem) }) } },
  serve: async (ports) => ({
    status: 200,
    body: { keys: await ports.keyPair.publicKeys() },
    headers: { "cache-control": "public, max-age=300" },
  }),
});

export const rotateKey = route("POST /signing-keys/rotate", {
  summary: "Add a key that signs the ends of runs from now on; needs a key for all clients",
  role: "admin",
  answers: { 201: { description: "the new public key", schema: PublicKeyItem } },
  handle: (ports, { by, once }) => once(() => rotateSigningKey(ports, by)),
});

export const health = openRoute("GET /health", {
  summary: "State and latency of the services that runs need, at most five seconds old",
  answers: {
    200: { description: "runs can start; `degraded`: NOVA cannot reach E2B or the models", schema: Health },
    503: { description: "runs cannot start", schema: Health },
  },
  async serve(ports) {
    const found = await checkHealth(ports, process.env);
    return { status: found.status === "down" ? 503 : 200, body: found };
  },
});

/** Each page counts the records in a part of the table, so a kind may be on several pages. */
export const formats = route("GET /formats", {
  summary: "Numbers of stored records by kind and format, part by part, and whether this version reads them",
  role: "admin",
  query: ScanQuery,
  answers: { 200: { description: "a page", schema: listOf(FormatItem) } },
  async handle(ports, { by, query }) {
    const { formats: items, cursor } = await surveyPart(ports, by, placeIn(query, TablePlace));
    return { items, next_cursor: cursorOf(cursor) };
  },
});

export const audit = listRoute("/audit", {
  summary: "The audit log, newest first; of one client if the query or the key names it",
  role: "admin",
  query: { client: Slug.optional() },
  item: AuditItem,
  cursor: /^[0-9A-Z]{26}$/,
  list: (ports, { by, query, page }) => listAudit(ports, by, { ...page, ...query }),
  show: (record) => viewOf(AuditItem, record, { client_slug: record.client }),
});
