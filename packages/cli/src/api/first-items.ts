import type { ItemOf, ListPath } from "@nova/client";
import { InvalidInput } from "../errors.ts";
import { askApi } from "./ask.ts";

/** The API's limit of items on a page. */
const pageLimit = 200;

/** Takes at most `max` items of a list, and reads no further page. */
export async function firstItems<T>(max: number, items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) if (found.push(item) >= max) break;
  return found;
}

/** Reads a positive whole number of an option. Throws `InvalidInput`. */
export function readCount(option: string, text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count > 0) return count;
  throw new InvalidInput(`${option} ${text} is not a whole number above 0`);
}

/** Reads at most `max` items of an API list. */
export function readItems<Path extends ListPath>(path: Path, max: number, query: object = {}): Promise<ItemOf<Path>[]> {
  const asked = { query: { ...query, limit: Math.min(max, pageLimit) } };
  return askApi((nova) => firstItems(max, nova.list(path, asked as never)));
}
