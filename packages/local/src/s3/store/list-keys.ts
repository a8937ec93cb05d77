import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { keyPart, prefixFolder } from "./key-path.ts";

export interface ListQuery {
  prefix: string;
  delimiter: string;
  /** Keys and common prefixes up to and including this one are left out. */
  after: string;
  limit: number;
}

export interface ListPage {
  keys: string[];
  commonPrefixes: string[];
  /** Last key or common prefix of this page, when there are more. */
  next?: string;
}

/** One page of a bucket's keys in S3's order: by their UTF-8 bytes. */
export async function listKeys(bucketDir: string, query: ListQuery): Promise<ListPage> {
  const { prefix, delimiter, after, limit } = query;
  const page: ListPage = { keys: [], commonPrefixes: [] };
  let last = after;
  for (const key of limit === 0 ? [] : await sortedKeys(bucketDir, prefix)) {
    const end = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
    const common = end < 0 ? undefined : key.slice(0, end + delimiter.length);
    if (compareBytes(key, after) <= 0 || common === last) continue;
    if (page.keys.length + page.commonPrefixes.length === limit) return { ...page, next: last };
    if (common === undefined) page.keys.push(key);
    else page.commonPrefixes.push(common);
    last = common ?? key;
  }
  return page;
}

async function sortedKeys(bucketDir: string, prefix: string): Promise<string[]> {
  const start = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  const keys: string[] = [];
  for await (const key of keysBelow(join(bucketDir, prefixFolder(prefix)), start)) {
    if (key.startsWith(prefix)) keys.push(key);
  }
  return keys.sort(compareBytes);
}

async function* keysBelow(folder: string, keySoFar: string): AsyncGenerator<string> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const { text, isObject } = keyPart(name);
    if (isObject) yield keySoFar + text;
    else yield* keysBelow(join(folder, name), keySoFar + text);
  }
}

/** JavaScript compares UTF-16 units, which differs from the bytes only where surrogates are involved. */
function compareBytes(a: string, b: string): number {
  if (/[\ud800-\udfff]/.test(a + b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}
