import { RawJson } from "@nova/engine";
import { type ExportRecord, exportClient } from "@nova/service";
import { z } from "zod";
import { route } from "../http/route.ts";
import { listOf } from "../schemas/list.ts";
import { cursorOf, placeIn, ScanQuery, TablePlace } from "../schemas/scan.ts";
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

/** Key of an object: S3 takes 1,024 bytes. */
const behind = (folder: string) =>
  z
    .string()
    .regex(new RegExp(`^${folder}(/[A-Za-z0-9_.-]+)+$`))
    .max(1024)
    .optional();

const Place = z.union([
  z.strictObject({ after: TablePlace }),
  z.strictObject({ prefix: z.literal(0), after: behind("workflows") }),
  z.strictObject({ prefix: z.literal(1), after: behind("blobs") }),
]);

/** A page is what one megabyte of the table holds of the client: it may be empty and not the last. */
export const all = route({
  method: "GET",
  path: "/clients/{slug}/export",
  summary: "All that is stored of a client, page by page, as `nova import` takes it",
  role: "admin",
  params: z.object({ slug: Slug }),
  query: ScanQuery,
  answers: { 200: { description: "a page", schema: listOf(ExportItem) } },
  async handle(ports, { by, params: { slug }, query }) {
    const { records, cursor } = await exportClient(ports, by, slug, placeIn(query, Place));
    return { status: 200, body: { items: records.map(shown), next_cursor: cursorOf(cursor) } };
  },
});

function shown(record: ExportRecord) {
  return record.kind === "item" ? { ...record, item: new RawJson(record.item) } : record;
}
