import { basename, dirname } from "node:path";
import { openInside } from "@nova/workflow";
import { InvalidInput } from "../errors.ts";

/**
 * The content of the file that an export writes last. An export folder without this file is incomplete. `items.ndjson`
 * contains one record per line, the folder `objects/` contains the objects by key, and `objects.ndjson` contains their
 * sizes and hashes. The full export of a local cloud also has `secrets.json`.
 */
export interface Manifest {
  format: 1;
  /** The client whose data was exported; null for a full export. */
  client: string | null;
  /** The time of the export in ISO 8601. */
  at: string;
  items: number;
  objects: number;
  /** The digest of all items and objects in their order. Absent if the exporting server sent no digest. */
  digest?: string;
  /**
   * The signature over client and digest with the key of the exporting deployment. Absent if that deployment had no
   * signing key.
   */
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

/** Matches a valid key of an object. Such a key is also a safe path below `objects/`. */
export const objectKey = /^(blobs|workflows)(\/(?!\.\.?(\/|$))[\w.-]+)+$/;

/**
 * The largest length of a line: an item of DynamoDB has at most 400 KB, and each byte becomes at most six characters of
 * JSON.
 */
const maxLineChars = 4 * 1024 * 1024;

const linesAtOnce = 8;

/**
 * Reads a large file line by line and works on several lines at a time. Only "\n" ends a line, because JSON may contain
 * Unicode's other line separators.
 */
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
