import { createReadStream } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ServicePorts } from "@nova/service";
import { InvalidInput } from "../errors.ts";
import { files, type Manifest, objectKey, type StoredObject } from "./format.ts";
import { withMachines } from "./with-machines.ts";

/** Records that are written at the same time. */
const atOnce = 8;

export interface Restored {
  items: number;
  objects: number;
  /** Items that were there already. */
  kept: number;
}

type RestorePorts = Pick<ServicePorts, "archive"> & Partial<Pick<ServicePorts, "stateMachines" | "templates">>;

/** Throws `InvalidInput` where the folder is no export, or half of one. */
export async function readManifest(folder: string): Promise<Manifest> {
  let manifest: Manifest;
  try {
    manifest = JSON.parse(await readFile(join(folder, files.manifest), "utf8")) as Manifest;
  } catch (cause) {
    throw new InvalidInput(`"${folder}" is no whole export - name a folder that \`nova export\` wrote`, { cause });
  }
  if (manifest.format === 1) return manifest;
  throw new InvalidInput(`"${folder}" has format ${manifest.format}, this release reads 1 - update NOVA`);
}

/**
 * Brings back what an export holds: objects first, since items name them, and versions last. What is there stays as it
 * is, so an import that broke off is repeated. Where there are ports for it the latest version of each workflow gets a
 * state machine.
 */
export async function restore(ports: RestorePorts, folder: string): Promise<Restored> {
  const restored: Restored = { items: 0, objects: 0, kept: 0 };
  const put = async (item: string) => {
    if (await ports.archive.putItem(item)) restored.items++;
    else restored.kept++;
  };
  await each(join(folder, files.objects), async (line) => {
    await putObject(ports, folder, JSON.parse(line) as StoredObject);
    restored.objects++;
  });
  const versions: string[] = [];
  await each(join(folder, files.items), async (line) => {
    if (line.includes('"__edb_e__":{"S":"version"}')) versions.push(line);
    else await put(line);
  });
  const { stateMachines, templates } = ports;
  const runnable =
    stateMachines && templates ? await withMachines({ stateMachines, templates }, folder, versions) : versions;
  for (const item of runnable) await put(item);
  return restored;
}

async function putObject({ archive }: RestorePorts, folder: string, { key, ...known }: StoredObject): Promise<void> {
  if (!objectKey.test(key)) throw new InvalidInput(`"${key}" is no key of NOVA's - "${folder}" was changed by hand`);
  await archive.putObject(key, createReadStream(join(folder, "objects", key)), known);
}

/** Lines of a file, some at a time. */
async function each(path: string, work: (line: string) => Promise<void>): Promise<void> {
  await using file = await open(path);
  const part: string[] = [];
  for await (const line of file.readLines()) {
    if (line !== "") part.push(line);
    if (part.length === atOnce) await Promise.all(part.splice(0).map(work));
  }
  await Promise.all(part.map(work));
}
