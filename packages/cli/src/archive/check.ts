import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FolderSecrets } from "@nova/local";
import { InvalidInput } from "../errors.ts";
import { files, type Manifest, objectKey, type StoredObject } from "./format.ts";
import { eachLine } from "./lines.ts";

/** Objects that are read at the same time. */
const atOnce = 8;
const wayOut = "export again, or take another copy of the folder";

/**
 * Throws `InvalidInput` where the folder is no export, or not all of one: read to its end, before anything is brought
 * back.
 */
export async function checkExport(folder: string): Promise<void> {
  const manifest = await readManifest(folder);
  const objects = await countLines(folder, files.objects, (line) => checkObject(folder, JSON.parse(line)));
  const items = await countLines(folder, files.items, async (line) => JSON.parse(line));
  await readSecretsOf(folder);
  for (const [name, found, written] of [
    [files.items, items, manifest.items],
    [files.objects, objects, manifest.objects],
  ] as const) {
    const what = `"${join(folder, name)}" has ${found} lines, and ${files.manifest} says ${written}`;
    if (found !== written) throw new InvalidInput(`${what} - ${wayOut}`);
  }
}

/** What opens and signs, where the export has it. */
export async function readSecretsOf(folder: string): Promise<FolderSecrets | undefined> {
  const path = join(folder, files.secrets);
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new InvalidInput(`"${path}" is not as it was written - ${wayOut}`, { cause });
  }
}

async function readManifest(folder: string): Promise<Manifest> {
  let manifest: Manifest | null;
  try {
    manifest = JSON.parse(await readFile(join(folder, files.manifest), "utf8"));
  } catch (cause) {
    throw new InvalidInput(`"${folder}" is no whole export - name a folder that \`nova export\` wrote`, { cause });
  }
  if (manifest?.format === 1) return manifest;
  throw new InvalidInput(`"${folder}" has format ${manifest?.format}, this release reads 1 - update NOVA`);
}

async function countLines(folder: string, name: string, check: (line: string) => Promise<void>): Promise<number> {
  const path = join(folder, name);
  let count = 0;
  try {
    await eachLine(path, atOnce, async (line) => {
      count++;
      await check(line);
    });
  } catch (cause) {
    if (cause instanceof InvalidInput) throw cause;
    const what = cause instanceof SyntaxError ? "has a line that is cut off or was changed" : "cannot be read";
    throw new InvalidInput(`"${path}" ${what} - ${wayOut}`, { cause });
  }
  return count;
}

async function checkObject(folder: string, { key, bytes, sha256 }: StoredObject): Promise<void> {
  if (!objectKey.test(key)) throw new InvalidInput(`"${key}" is no key of NOVA's - "${folder}" was changed by hand`);
  const path = join(folder, "objects", key);
  const found = await digestOf(path).catch((cause: NodeJS.ErrnoException) => {
    throw new InvalidInput(`"${path}" cannot be read (${cause.code}) - ${wayOut}`, { cause });
  });
  if (found.bytes === bytes && found.sha256 === sha256) return;
  throw new InvalidInput(`"${path}" is not as it was written - ${wayOut}`);
}

async function digestOf(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest("hex") };
}
