import { RawJson } from "@nova/engine";
import { exportClient } from "@nova/service";
import { z } from "zod";
import { route } from "../http/route.ts";
import { cursorOf, listOf, placeIn, ScanQuery, TablePlace } from "../schemas/list.ts";
import { Slug } from "../schemas/values.ts";

const ExportItem = z
  .discriminatedUnion("kind", [
    z.object({ kind: z.literal("item"), entity: z.string(), item: z.looseObject({}) }),
    z.object({ kind: z.literal("object"), key: z.string(), bytes: z.int(), url: z.url() }),
  ])
  .meta({
    id: "ExportRecord",
    description: "an item of the table in DynamoDB's JSON, or the address of an object, valid for an hour",
  });

/**
 * Returns the schema of the key of an object in `folder`. A page starts after this object. S3 accepts keys of at most
 * 1,024 bytes.
 */
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

/** The start of a page: a position without a digest, or a position with a signed digest of all earlier pages. */
const Cursor = z.union([
  Place,
  z.strictObject({
    // `JSON.parse` may throw: `placeIn` catches the error and refuses the cursor.
    at: z.string().refine((text) => Place.safeParse(JSON.parse(text)).success),
    digest: z.string().regex(/^[0-9a-f]{64}$/),
    signature: z.string().regex(/^[A-Za-z0-9+/]{43}=$/),
  }),
]);

const Page = listOf(ExportItem).extend({
  seal: z.string().optional().describe("signature over all pages; only on the last one"),
});

/**
 * Each page contains the client's items in one megabyte of the table. So a page may be empty although further pages
 * follow.
 */
export const all = route("GET /clients/{slug}/export", {
  summary: "All stored data of a client, page by page, for `nova import`",
  role: "admin",
  params: z.object({ slug: Slug }),
  query: ScanQuery,
  answers: { 200: { description: "a page; the last one has the seal", schema: Page } },
  async handle(ports, { by, params: { slug }, query }) {
    const { records, cursor, seal } = await exportClient(ports, by, slug, placeIn(query, Cursor));
    const items = records.map((one) => (one.kind === "item" ? { ...one, item: new RawJson(one.item) } : one));
    return { items, next_cursor: cursorOf(cursor), seal };
  },
});
