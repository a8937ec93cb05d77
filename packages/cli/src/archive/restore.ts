import { createReadStream } from "node:fs";
import { join } from "node:path";
import type { ServicePorts } from "@nova/service";
import { files, type StoredObject } from "./format.ts";
import { eachLine } from "./lines.ts";
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

/**
 * Brings back what an export holds, which was looked at (`checkExport`): objects first, since items name them, and
 * versions last. What is there stays as it is, so an import that broke off is repeated. Where there are ports for it
 * the latest version of each workflow gets a state machine.
 */
export async function restore(ports: RestorePorts, folder: string): Promise<Restored> {
  const restored: Restored = { items: 0, objects: 0, kept: 0 };
  const put = async (item: string) => {
    if (await ports.archive.putItem(item)) restored.items++;
    else restored.kept++;
  };
  await eachLine(join(folder, files.objects), atOnce, async (line) => {
    await putObject(ports, folder, JSON.parse(line) as StoredObject);
    restored.objects++;
  });
  const versions: string[] = [];
  await eachLine(join(folder, files.items), atOnce, async (line) => {
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
  await archive.putObject(key, createReadStream(join(folder, "objects", key)), known);
}
