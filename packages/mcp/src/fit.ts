import { isObject, type Loose } from "@nova/workflow";
import type { z } from "zod";

/** The largest result of a tool, as JSON in UTF-8. A larger one is cut, and links to resources that have all of it. */
export const maxResultBytes = 20 * 1024;

/**
 * Cuts the largest parts of a result until it fits into `maxResultBytes`. A part becomes null or is left out where the
 * schema allows it, so that no JSON text is cut in its middle. The items of a page stay, because its cursor follows them.
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
  for (let [holder, key] = [result, largestKey(result)]; ; ) {
    const part = holder[key];
    if (typeof part === "string") return cutString(holder, key, excess, fits);
    if (Array.isArray(part) && !(isPage && holder === result) && !hasLargeItem(part, excess)) {
      cutList(part, excess);
      if ("more" in result) result.more = true;
      return true;
    }
    if (!isObject(part) && !Array.isArray(part)) return false;
    [holder, key] = [part as Loose, largestKey(part as Loose)];
  }
}

function largestKey(parts: Loose): string {
  return Object.keys(parts).reduce(
    (a, b) => (bytesOf(parts[b]) > bytesOf(parts[a]) ? b : a),
    Object.keys(parts)[0] ?? "",
  );
}

/** Whether one item is so large that it is cut in place of the end of its list. */
function hasLargeItem(items: readonly unknown[], excess: number): boolean {
  return items.length === 1 || items.some((item) => bytesOf(item) > Math.max(excess, bytesOf(items) / 2));
}

function cutList(items: unknown[], excess: number): void {
  for (let left = excess; left > 0 && items.length > 0; ) left -= bytesOf(items.pop()) + 1;
}

function cutString(holder: Loose, key: string, excess: number, fits: () => boolean): boolean {
  const text = holder[key] as string;
  delete holder[key];
  if (fits()) return true;
  holder[key] = null;
  if (fits()) return true;
  const kept = Math.floor(text.length * (1 - (excess + 8) / bytesOf(text)));
  holder[key] = cutText(text, Math.max(3, Math.min(kept, text.length - 1)));
  return text.length > 3;
}

export function cutText(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 3).toWellFormed()}...`;
}
