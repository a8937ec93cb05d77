import { surveyPart } from "@nova/service";
import { route } from "../http/route.ts";
import { FormatItem } from "../schemas/format.ts";
import { listOf } from "../schemas/list.ts";
import { cursorOf, placeIn, ScanQuery, TablePlace } from "../schemas/scan.ts";

/** Each page counts what a part of the table holds: the same kind may be on many of them. */
export const list = route({
  method: "GET",
  path: "/formats",
  summary: "How many records of each kind and format are stored, part by part, and whether this release reads them",
  role: "admin",
  query: ScanQuery,
  answers: { 200: { description: "a page", schema: listOf(FormatItem) } },
  async handle(ports, { by, query }) {
    const { formats, cursor } = await surveyPart(ports, by, placeIn(query, TablePlace));
    return { status: 200, body: { items: formats, next_cursor: cursorOf(cursor) } };
  },
});
