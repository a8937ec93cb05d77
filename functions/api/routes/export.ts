import { RawJson } from "@nova/engine";
import { type ExportRecord, exportClient } from "@nova/service";
import { z } from "zod";
import { Misfit } from "../http/errors.ts";
import { route } from "../http/route.ts";
import { Slug } from "../schemas/values.ts";

const ExportItem = z
  .discriminatedUnion("kind", [
    z.object({ kind: z.literal("item"), entity: z.string(), item: z.looseObject({}) }),
    z.object({ kind: z.literal("object"), key: z.string(), bytes: z.int(), url: z.url() }),
  ])
  .meta({
    id: "ExportRecord",
    description: "an item of the table in DynamoDB's JSON, or where an object is for an hour",
  });

/** A page is what one megabyte of the table holds of the client: it may be empty and not the last. */
export const all = route({
  method: "GET",
  path: "/clients/{slug}/export",
  summary: "All that is stored of a client, page by page, as `nova import` takes it",
  role: "admin",
  params: z.object({ slug: Slug }),
  query: z.object({
    cursor: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,4000}$/)
      .optional(),
  }),
  answers: {
    200: {
      description: "a page",
      schema: z.object({ items: z.array(ExportItem), next_cursor: z.string().nullable() }),
    },
  },
  async handle(ports, { by, params: { slug }, query }) {
    const at = query.cursor === undefined ? undefined : positionIn(query.cursor);
    const { records, cursor } = await exportClient(ports, by, slug, at);
    const next = cursor === undefined ? null : Buffer.from(cursor).toString("base64url");
    return { status: 200, body: { items: records.map(shown), next_cursor: next } };
  },
});

function shown(record: ExportRecord) {
  return record.kind === "item" ? { ...record, item: new RawJson(record.item) } : record;
}

/** What a page before has answered. Throws `Misfit`. */
function positionIn(cursor: string): string {
  const text = Buffer.from(cursor, "base64url").toString();
  const key = z.record(z.string(), z.object({ S: z.string() }));
  const Position = z.union([
    z.strictObject({ after: key }),
    z.strictObject({ prefix: z.int().min(0).max(1), token: z.string().optional() }),
  ]);
  try {
    Position.parse(JSON.parse(text));
    return text;
  } catch {
    throw new Misfit(400, "the query", [{ path: "$.cursor", message: "no page ends there - use a `next_cursor`" }]);
  }
}
