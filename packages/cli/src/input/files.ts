import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { FileInput } from "@nova/engine";
import { InvalidInput, throwInvalid } from "../errors.ts";
import { splitPair } from "./context.ts";

/**
 * Reads `--file key=path`. The bytes are never in memory as a whole: they are read once for their hash and once to send
 * them.
 */
export function readFiles(options: readonly string[]): Promise<FileInput[]> {
  const read = async (option: string) => {
    const [key, path] = splitPair(option, "--file", "path");
    return { key, ...(await readFileAt(path, `--file ${key}`)) };
  };
  return Promise.all(options.map(read));
}

/** Hashes a file. `where` starts the sentence about a problem. Throws `InvalidInput`. */
export async function readFileAt(path: string, where: string): Promise<Omit<FileInput, "key">> {
  const stats = await stat(path).catch(throwInvalid(`${where}: there is no file "${path}" - correct the path`));
  if (!stats.isFile()) throw new InvalidInput(`${where}: "${path}" is not a file - name one`);
  const open = () => createReadStream(path);
  const hashed = await hashOf(open()).catch(throwInvalid(`${where}: "${path}" cannot be read - make it readable`));
  return { ...hashed, open };
}

/** Hashes all chunks; `each` has finished with a chunk before the next one is read. */
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
