import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { FileInput } from "@nova/engine";
import { InvalidInput, refusing } from "../errors.ts";
import { splitPair } from "./context.ts";

/** `--file key=path`: bytes that never are in memory as a whole, read once for their hash and once on their way. */
export function readFiles(options: readonly string[]): Promise<FileInput[]> {
  const read = async (option: string) => {
    const [key, path] = splitPair(option, "--file", "path");
    return { key, ...(await readFileAt(path, `--file ${key}`)) };
  };
  return Promise.all(options.map(read));
}

/** `where` begins the sentence that says what is wrong with it. Throws `InvalidInput`. */
export async function readFileAt(path: string, where: string): Promise<Omit<FileInput, "key">> {
  const stats = await stat(path).catch(refusing(`${where}: there is no file "${path}" - correct the path`));
  if (!stats.isFile()) throw new InvalidInput(`${where}: "${path}" is not a file - name one`);
  const open = () => createReadStream(path);
  const hashed = await hashOf(open()).catch(refusing(`${where}: "${path}" cannot be read - make it readable`));
  return { ...hashed, open };
}

/** Reads to the end; `each` has every chunk before the next one comes. */
export async function hashOf(
  chunks: AsyncIterable<Uint8Array>,
  each?: (chunk: Uint8Array, bytes: number) => Promise<unknown>,
): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    bytes += chunk.length;
    await each?.(chunk, bytes);
  }
  return { sha256: hash.digest("hex"), bytes };
}
