import { defined } from "@nova/workflow/defined";
import { InvalidInput } from "../errors.ts";
import { askApi } from "./ask.ts";

/** The API's most items on a page. */
const pageLimit = 200;

interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

/** The first items of a list, at most so many, a page at a time. */
export async function firstItems<T>(
  max: number,
  pageAt: (query: { limit: number; cursor?: string }) => Promise<Page<T>>,
): Promise<T[]> {
  const found: T[] = [];
  for (let cursor: string | undefined; ; ) {
    const limit = Math.min(max - found.length, pageLimit);
    const { items, next_cursor } = await pageAt(defined({ limit, cursor }));
    found.push(...items);
    cursor = next_cursor ?? undefined;
    if (cursor === undefined || found.length >= max) return found.slice(0, max);
  }
}

/** The value of `--limit`. Throws `InvalidInput`. */
export function readLimit(text: string): number {
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1) throw new InvalidInput(`--limit ${text} is not a whole number above 0`);
  return limit;
}

type Lists =
  | "audit"
  | "deliveries"
  | "executions"
  | "schedules"
  | `analytics/${"workflows" | "nodes" | "errors" | "ai-cost"}`;

/** The first items of a list of the API that fit a query, as `T` has them. */
export function listed<T>(list: Lists, max: number, query: object = {}): Promise<T[]> {
  return askApi((nova) =>
    firstItems(max, (page) => {
      const asked = nova.api.GET(`/${list}`, { params: { query: { ...defined(query), ...page } } });
      return nova.ask(asked) as Promise<Page<T>>;
    }),
  );
}
