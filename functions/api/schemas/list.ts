import { renderJson } from "@nova/engine";
import { type Page, type PageQuery, type Principal, pageFrom, type ServicePorts } from "@nova/service";
import { z } from "zod";
import { Misfit } from "../http/errors.ts";
import { type Asked, type Definition, route } from "../http/route.ts";
import { wholeNumber } from "./values.ts";

const defaultLimit = 50;

/** What every list takes. */
export const ListQuery = z.strictObject({
  limit: wholeNumber(1, 200)
    .optional()
    .meta({ description: `at most so many; ${defaultLimit} where absent` }),
  cursor: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,400}$/, "no list ends there - use a `next_cursor`")
    .optional()
    .meta({ description: "`next_cursor` of the page before" }),
});

export type ListQuery = z.infer<typeof ListQuery>;

/** What every list is. */
export function listOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), next_cursor: z.string().nullable() });
}

/** Limit and position of a query. A cursor is a position in base64url, which has to look like `like`. Throws `Misfit`. */
export function pageQuery({ limit = defaultLimit, cursor }: ListQuery, like: RegExp): PageQuery {
  if (cursor === undefined) return { limit };
  const position = Buffer.from(cursor, "base64url").toString();
  if (like.test(position)) return { limit, cursor: position };
  throw new Misfit(400, "the query", [{ path: "$.cursor", message: "no list ends there - use a `next_cursor`" }]);
}

export function listAnswer<T>({ items, cursor }: Page<T>, shown: (item: T) => unknown) {
  return { items: items.map(shown), next_cursor: cursorOf(cursor) };
}

interface Listing<Params, Query extends z.ZodRawShape, T>
  extends Pick<Definition<Params, unknown, unknown>, "summary" | "role"> {
  params?: z.ZodType<Params>;
  /** What it takes besides limit and cursor. */
  query?: Query;
  item: z.ZodType;
  /** What a position looks like, so that no store is asked for one that it never gave. */
  cursor?: RegExp;
  /** The page that is asked for; or all there is, where that is in memory as a whole. */
  list(
    ports: ServicePorts,
    asked: Pick<Asked<Params, z.output<z.ZodObject<Query>>, unknown>, "by" | "params" | "query"> & { page: PageQuery },
  ): Promise<Page<T> | readonly T[]>;
  show?(item: T): unknown;
  tag?(ports: ServicePorts, asked: { by: Principal; params: Params }): Promise<string | undefined>;
}

/** A list: pages of at most so many items, each of which ends with a cursor that the next one begins behind. */
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

/** AWS Lambda answers 6 MB at most, the body as an escaped JSON string in it. */
const maxBytes = 4 * 1024 * 1024;

/** Its cursor is how many came before. A page too large for an answer ends sooner, behind one item at least. */
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

const noSuchPage = "no page ends there - use a `next_cursor`";

/** What a list takes that reads the table from end to end: a page is what some megabytes hold, however many that are. */
export const ScanQuery = z.strictObject({
  cursor: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,8000}$/, noSuchPage)
    .optional()
    .meta({ description: "`next_cursor` of the page before" }),
});

/** Where DynamoDB ends a page of the table: it takes no other members, no empty keys, and none above its quotas. */
export const TablePlace = z.strictObject({ pk: keyOf(2048), sk: keyOf(1024) });

/** `maxBytes` as in DynamoDB's "Quotas": partition key values and sort key values. */
function keyOf(maxBytes: number) {
  const fits = (text: string) => text !== "" && text.isWellFormed() && Buffer.byteLength(text) <= maxBytes;
  return z.strictObject({ S: z.string().refine(fits) });
}

/** The place that a page before has named, as a store gave it. Throws `Misfit`. */
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
