import { basename, dirname } from "node:path";
import { openInside } from "@nova/workflow";
import { InvalidInput } from "../errors.ts";

/**
 * A folder with everything that NOVA has stored, or all of one client: `items.ndjson` (a record a line), `objects/` with
 * the objects by their keys, `objects.ndjson` (what they are), `secrets.json` (of a whole local cloud), and this file,
 * written last: a folder without it is half an export.
 */
export interface Manifest {
  format: 1;
  /** Null: everything. */
  client: string | null;
  /** ISO 8601. */
  at: string;
  items: number;
  objects: number;
  /** Of all items and objects, in their order. Absent where an earlier release wrote it. */
  digest?: string;
  /** Signs client and digest, with the key of the deployment that was exported. Absent where none was at hand. */
  seal?: string;
}

export const files = {
  manifest: "nova-export.json",
  items: "items.ndjson",
  objects: "objects.ndjson",
  secrets: "secrets.json",
} as const;

export interface StoredObject {
  key: string;
  bytes: number;
  sha256: string;
}

/** What may be the key of an object, and so a path below `objects/`. */
export const objectKey = /^(blobs|workflows)(\/(?!\.\.?(\/|$))[\w.-]+)+$/;

/** An item of DynamoDB has 400 KB, each byte of which is six characters of JSON at the most. */
const maxLineChars = 4 * 1024 * 1024;

const linesAtOnce = 8;

/** Lines of a file that may be large, some at a time. Only "\n" ends one: JSON may hold all that Unicode calls so. */
export async function eachLine(path: string, work: (line: string) => Promise<void>): Promise<void> {
  await using file = await openInside(dirname(path), basename(path));
  if (!file) throw new InvalidInput(`"${path}" cannot be read - export again, or take another copy of the folder`);
  const part: string[] = [];
  for await (const line of linesOf(file.createReadStream({ encoding: "utf8" }), path)) {
    if (line !== "") part.push(line);
    if (part.length === linesAtOnce) await Promise.all(part.splice(0).map(work));
  }
  await Promise.all(part.map(work));
}

async function* linesOf(chunks: AsyncIterable<string>, path: string): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of chunks) {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() as string;
    yield* lines;
    if (rest.length > maxLineChars) {
      throw new InvalidInput(`"${path}" has a line that is longer than any item - take another copy of the folder`);
    }
  }
  yield rest;
}
