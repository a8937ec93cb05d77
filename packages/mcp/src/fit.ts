import { isObject, type Loose } from "@nova/workflow";
import type { z } from "zod";

/**
 * The largest result of a tool, as JSON in UTF-8. NOVA cuts a larger result, and adds links to resources that contain
 * the whole result.
 */
export const maxResultBytes = 20 * 1024;

/**
 * Cuts the largest parts of a result until it fits into `maxResultBytes`. Where the schema allows it, the function
 * makes a part null or leaves the part out, so that no JSON text is cut in its middle. It keeps all items of a page,
 * because the cursor of the page points after the last item.
 */
export function fitResult(result: Loose, schema: z.ZodObject): { result: Loose; isCut: boolean } {
  if (bytesOf(result) <= maxResultBytes) return { result, isCut: false };
  const fitted = structuredClone(result);
  const fits = () => schema.safeParse(fitted).success;
  for (let excess = bytesOf(fitted); excess > maxResultBytes; excess = bytesOf(fitted)) {
    if (!cutLargestPart(fitted, excess - maxResultBytes, fits))
      throw new RangeError("the result has too many values for one answer - ask for a part of it");
  }
  return { result: fitted, isCut: true };
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? "");
}

/** Cuts the largest part by about `excess` bytes. Returns false if nothing is left to cut. */
function cutLargestPart(result: Loose, excess: number, fits: () => boolean): boolean {
  const isPage = "next_cursor" in result;
  for (let holder = result; ; ) {
    const sizes = sizesOf(holder);
    const [key = "", bytes = 0] = largestOf(sizes) ?? [];
    const part = holder[key];
    if (typeof part === "string")
      return cutStrings(holder, sizes, excess, fits) || cutString(holder, key, excess, fits);
    if (Array.isArray(part) && !(isPage && holder === result)) {
      const items = sizesOf(part);
      if (!hasLargeItem(items, excess, bytes)) {
        cutList(part, items, excess);
        if ("more" in result) result.more = true;
        return true;
      }
    }
    if (!isObject(part) && !Array.isArray(part)) return false;
    holder = part as Loose;
  }
}

/** The keys of an object or the indexes of a list, each with the size of its value in bytes. */
type Sizes = readonly (readonly [key: string, bytes: number])[];

function sizesOf(parts: object): Sizes {
  return Object.entries(parts).map(([key, part]) => [key, bytesOf(part)] as const);
}

function largestOf([first, ...others]: Sizes): Sizes[number] | undefined {
  return first && others.reduce((a, b) => (b[1] > a[1] ? b : a), first);
}

/**
 * Returns whether a list has an item that is so large that NOVA cuts this item instead of the end of the list. `bytes`
 * is the size of the list.
 */
function hasLargeItem(items: Sizes, excess: number, bytes: number): boolean {
  return items.length === 1 || items.some(([, size]) => size > Math.max(excess, bytes / 2));
}

function cutList(list: unknown[], items: Sizes, excess: number): void {
  for (let left = excess; left > 0 && list.length > 0; list.pop()) left -= (items[list.length - 1]?.[1] ?? 0) + 1;
}

/**
 * Leaves out the largest texts of a record, all in one step. If the schema demands one of these texts, changes nothing
 * and returns false.
 */
function cutStrings(record: Loose, sizes: Sizes, excess: number, fits: () => boolean): boolean {
  if (Array.isArray(record)) return false;
  const before = { ...record };
  let left = excess;
  for (const [key, bytes] of sizes.toSorted(([, a], [, b]) => b - a)) {
    if (left <= 0) break;
    if (typeof record[key] !== "string") continue;
    left -= bytesOf(key) + bytes + 2;
    delete record[key];
  }
  if (fits()) return true;
  Object.assign(record, before);
  return false;
}

/** Makes a text null, or shortens it if the schema demands a text. Returns false if the text is too short to cut. */
function cutString(holder: Loose, key: string, excess: number, fits: () => boolean): boolean {
  const text = holder[key] as string;
  holder[key] = null;
  if (fits()) return true;
  const kept = Math.floor(text.length * (1 - (excess + 8) / bytesOf(text)));
  holder[key] = cutText(text, Math.max(3, Math.min(kept, text.length - 1)));
  return text.length > 3;
}

export function cutText(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 3).toWellFormed()}...`;
}
