import { RawJson, renderJson } from "@nova/engine";
import type { Page, PageQuery, Principal, ServicePorts } from "@nova/service";
import { z } from "zod";
import { Misfit } from "../http/errors.ts";
import { type Asked, type Definition, route } from "../http/route.ts";
import { wholeNumber } from "./values.ts";

const defaultLimit = 50;

export const ListQuery = z.strictObject({
  limit: wholeNumber(1, 200).optional().describe(`maximum of items; ${defaultLimit} by default`),
  cursor: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,400}$/, "the cursor is unknown - use a `next_cursor`")
    .optional()
    .describe("`next_cursor` of the page before"),
});

export type ListQuery = z.infer<typeof ListQuery>;

export function listOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), next_cursor: z.string().nullable() });
}

/**
 * Returns the limit of a query, and the position that its cursor contains in base64url. Throws `Misfit` if the position
 * does not match `like`.
 */
export function pageQuery({ limit = defaultLimit, cursor }: ListQuery, like: RegExp): PageQuery {
  if (cursor === undefined) return { limit };
  const position = Buffer.from(cursor, "base64url").toString();
  if (like.test(position)) return { limit, cursor: position };
  throw new Misfit(400, "the query", [{ path: "$.cursor", message: "the cursor is unknown - use a `next_cursor`" }]);
}

export function listAnswer<T>({ items, cursor }: Page<T>, show: (item: T) => unknown = (item) => item) {
  return { items: items.map(show), next_cursor: cursorOf(cursor) };
}

interface Listing<Params, Query extends z.ZodRawShape, T>
  extends Pick<Definition<Params, unknown, unknown>, "summary" | "role"> {
  params?: z.ZodType<Params>;
  query?: Query;
  item: z.ZodType;
  /** Pattern of the positions in cursors, so that a store never gets a position in another form. */
  cursor?: RegExp;
  /**
   * Returns the requested page. A function that has the whole list in memory may return all items. The route then
   * answers with one page of these items.
   */
  list(
    ports: ServicePorts,
    asked: Pick<Asked<Params, z.output<z.ZodObject<Query>>, unknown>, "by" | "params" | "query"> & { page: PageQuery },
  ): Promise<Page<T> | readonly T[]>;
  show?(item: T): unknown;
  tag?(ports: ServicePorts, asked: { by: Principal; params: Params }): Promise<string | undefined>;
}

/** Creates a route that answers with one page of a list. The cursor of a page leads to the next page. */
export function listRoute<Params, Query extends z.ZodRawShape, T>(
  path: `/${string}`,
  { item, query, list, cursor: like = /^\d{1,9}$/, show = (one) => one, ...described }: Listing<Params, Query, T>,
) {
  return route(`GET ${path}`, {
    ...described,
    query: query ? ListQuery.extend(query) : ListQuery,
    answers: { 200: { description: "a page", schema: listOf(item) } },
    async handle(ports, { by, params, query: { limit, cursor, ...rest } }) {
      const page = pageQuery({ limit, cursor } as ListQuery, like);
      const found = await list(ports, { by, params, query: rest as never, page });
      return "items" in found ? listAnswer(found, show) : listAnswer(pageOfAll(found, page, show));
    },
  });
}

/**
 * Maximum size of the items on a page. AWS Lambda answers with at most 6 MB, which contain the body as an escaped JSON
 * string.
 */
const maxBytes = 4 * 1024 * 1024;

/**
 * Creates an empty list for the items of a page, as JSON. `add` adds an item and returns true. If the page would be too
 * large for an answer, `add` returns false instead. It always adds the first item.
 */
export function renderedItems(): { items: RawJson[]; add(item: unknown): boolean } {
  const items: RawJson[] = [];
  let bytes = 0;
  return {
    items,
    add(item) {
      const text = renderJson(item);
      bytes += Buffer.byteLength(text);
      if (items.length > 0 && bytes > maxBytes) return false;
      items.push(new RawJson(text));
      return true;
    },
  };
}

/** Returns a page of items in memory, as JSON. The cursor is the number of items before the page. */
export function pageOfAll<T>(
  all: readonly T[],
  { limit, cursor = "0" }: PageQuery,
  show: (item: T) => unknown = (item) => item,
): Page<RawJson> {
  const first = Number(cursor);
  const { items, add } = renderedItems();
  for (const item of all.slice(first, first + limit)) if (!add(show(item))) break;
  const next = first + items.length;
  return next < all.length ? { items, cursor: String(next) } : { items };
}

const noSuchPage = "the cursor is unknown - use a `next_cursor`";

/**
 * The query of a list that scans the table. It has no parameter `limit`: a page contains the items in some megabytes of
 * the table.
 */
export const ScanQuery = z.strictObject({
  cursor: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,8000}$/, noSuchPage)
    .optional()
    .describe("`next_cursor` of the page before"),
});

/** A position in a scan of DynamoDB: the keys of an item, within DynamoDB's quotas. */
export const TablePlace = z.strictObject({ pk: keyOf(2048), sk: keyOf(1024) });

/**
 * Builds the schema of a key attribute whose value is a text. `maxBytes` is DynamoDB's limit for the bytes of that
 * value.
 */
function keyOf(maxBytes: number) {
  const fits = (text: string) => text !== "" && text.isWellFormed() && Buffer.byteLength(text) <= maxBytes;
  return z.strictObject({ S: z.string().refine(fits) });
}

/** Returns the position in a cursor as JSON text. Throws `Misfit` if the position does not fit `like`. */
export function placeIn({ cursor }: z.infer<typeof ScanQuery>, like: z.ZodType): string | undefined {
  if (cursor === undefined) return undefined;
  const text = Buffer.from(cursor, "base64url").toString();
  try {
    like.parse(JSON.parse(text));
    return text;
  } catch {
    throw new Misfit(400, "the query", [{ path: "$.cursor", message: noSuchPage }]);
  }
}

export function cursorOf(place: string | undefined): string | null {
  return place === undefined ? null : Buffer.from(place).toString("base64url");
}
