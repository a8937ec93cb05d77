import { renderJson } from "@nova/engine";
import { type Page, type PageQuery, type Principal, pageFrom, type ServicePorts } from "@nova/service";
import { z } from "zod";
import { Misfit } from "../http/errors.ts";
import { type Asked, type Definition, route } from "../http/route.ts";
import { wholeNumber } from "./values.ts";

const defaultLimit = 50;

export const ListQuery = z.strictObject({
  limit: wholeNumber(1, 200)
    .optional()
    .meta({ description: `maximum of items; ${defaultLimit} by default` }),
  cursor: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,400}$/, "the cursor is unknown - use a `next_cursor`")
    .optional()
    .meta({ description: "`next_cursor` of the page before" }),
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

export function listAnswer<T>({ items, cursor }: Page<T>, shown: (item: T) => unknown) {
  return { items: items.map(shown), next_cursor: cursorOf(cursor) };
}

interface Listing<Params, Query extends z.ZodRawShape, T>
  extends Pick<Definition<Params, unknown, unknown>, "summary" | "role"> {
  params?: z.ZodType<Params>;
  query?: Query;
  item: z.ZodType;
  /** Pattern of the positions in cursors, so that a store never gets a position in another form. */
  cursor?: RegExp;
  /**
   * Returns the requested page. A function with its whole list in memory may return all items; the route then answers
   * with one page of them.
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
      const bytesOf = (one: T) => Buffer.byteLength(renderJson(show(one)));
      return listAnswer("items" in found ? found : pageOfAll(found, page, bytesOf), show);
    },
  });
}

/** AWS Lambda answers 6 MB at most, with the body as an escaped JSON string. */
const maxBytes = 4 * 1024 * 1024;

/**
 * Returns a page of items in memory; the cursor is the number of items before the page. A page that would be too large
 * for an answer has fewer items, but at least one.
 */
export function pageOfAll<T>(
  all: readonly T[],
  { limit, cursor = "0" }: PageQuery,
  bytesOf: (item: T) => number = () => 0,
): Page<T> {
  const first = Number(cursor);
  const rest = all.slice(first, first + limit + 1);
  let [fitting, bytes] = [0, 0];
  for (const item of rest) {
    bytes += bytesOf(item);
    if (fitting > 0 && bytes > maxBytes) break;
    fitting++;
  }
  const shown = Math.min(limit, fitting);
  return pageFrom(rest, shown, () => String(first + shown));
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
    .meta({ description: "`next_cursor` of the page before" }),
});

/** A position in a scan of DynamoDB: the keys of an item, within DynamoDB's quotas. */
export const TablePlace = z.strictObject({ pk: keyOf(2048), sk: keyOf(1024) });

/** A key attribute with a text. `maxBytes` is DynamoDB's quota for the value of a partition key or a sort key. */
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
