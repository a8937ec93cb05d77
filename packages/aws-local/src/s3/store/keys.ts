import { readdir } from "node:fs/promises";
import { join } from "node:path";

/**
 * The longest file name. File systems allow 255 bytes. A part of a key that is longer is split into several nested
 * folders.
 */
const maxName = 180;

/**
 * Returns the path of an object inside the folder of its bucket: the key `blobs/a/B.txt` becomes `blobs/a/^b.txt$`.
 * Every key has its own path, even on a file system that ignores case (macOS), and no path leaves the bucket. A final
 * `$` marks an object; the rest of a path never contains `$`.
 */
export function keyPath(key: string): string {
  const segments = key.split("/").map(namesOf);
  const last = segments.pop() as string[];
  return join(...segments.flat(), ...last.slice(0, -1), `${last.at(-1)}$`);
}

/**
 * Returns the folder that contains the objects of all keys with this prefix: the path of the prefix up to its last `/`.
 */
export function prefixFolder(prefix: string): string {
  return join("", ...prefix.split("/").slice(0, -1).flatMap(namesOf));
}

/** Decodes the name of a file or a folder to the part of the key that it stands for. */
export function keyPart(name: string): { text: string; isObject: boolean } {
  if (name.endsWith("$")) return { text: decode(name.slice(0, -1)), isObject: true };
  if (name.endsWith("~")) return { text: decode(name.slice(0, -1)), isObject: false };
  return { text: `${decode(name)}/`, isObject: false };
}

function namesOf(segment: string): string[] {
  const names = [""];
  for (const character of encodedCharacters(segment)) {
    if ((names.at(-1) as string).length + character.length > maxName) names.push("");
    names.push(names.pop() + character);
  }
  return names.map((name, index) => (index < names.length - 1 ? `${name}~` : name));
}

/** Encodes each character alone, because a name that is split in the middle of a character could not be decoded. */
function encodedCharacters(segment: string): string[] {
  if (segment === "") return ["%"];
  if (segment === "." || segment === "..") return ["%2e", ...segment.slice(1)];
  return Array.from(segment, (character) => {
    if (/[a-z0-9._=-]/.test(character)) return character;
    if (/[A-Z]/.test(character)) return `^${character.toLowerCase()}`;
    return Array.from(Buffer.from(character), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  });
}

function decode(name: string): string {
  if (name === "%") return "";
  const bytes = name.replace(/\^([a-z])|%([0-9a-f]{2})/g, (_, upper, hex) =>
    upper ? upper.toUpperCase() : String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, "latin1").toString();
}

export interface ListQuery {
  prefix: string;
  delimiter: string;
  /** The page starts after this key or common prefix. */
  after: string;
  limit: number;
}

export interface ListPage {
  keys: string[];
  commonPrefixes: string[];
  /** The last key or common prefix of this page; absent on the last page. */
  next?: string;
}

/** Returns one page of a bucket's keys in S3's order: by their UTF-8 bytes. */
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

/**
 * Compares texts by their UTF-8 bytes. JavaScript compares UTF-16 units, whose order differs only if a text has
 * surrogates.
 */
function compareBytes(a: string, b: string): number {
  if (/[\ud800-\udfff]/.test(a + b)) return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}
