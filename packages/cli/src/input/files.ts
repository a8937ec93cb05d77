import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { FileInput } from "@nova/engine";
import { InvalidInput } from "../errors.ts";
import { splitPair } from "./context.ts";

/** `--file key=path`: bytes that never are in memory as a whole, read once for their hash and once on their way. */
export function readFiles(options: readonly string[]): Promise<FileInput[]> {
  return Promise.all(options.map(readFileInput));
}

async function readFileInput(option: string): Promise<FileInput> {
  const [key, path] = splitPair(option, "--file", "path");
  return { key, ...(await readFileAt(path, `--file ${key}`)) };
}

/** `where` begins the sentence that says what is wrong with it. Throws `InvalidInput`. */
export async function readFileAt(path: string, where: string): Promise<Omit<FileInput, "key">> {
  const stats = await stat(path).catch((cause) => {
    throw new InvalidInput(`${where}: there is no file "${path}" - correct the path`, { cause });
  });
  if (!stats.isFile()) throw new InvalidInput(`${where}: "${path}" is not a file - name one`);
  const hash = createHash("sha256");
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(path)) {
      hash.update(chunk);
      bytes += chunk.length;
    }
  } catch (cause) {
    throw new InvalidInput(`${where}: "${path}" cannot be read - make it readable`, { cause });
  }
  return { sha256: hash.digest("hex"), bytes, open: () => createReadStream(path) };
}
