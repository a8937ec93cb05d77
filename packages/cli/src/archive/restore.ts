import { join } from "node:path";
import type { ServicePorts } from "@nova/service";
import { openInside } from "@nova/workflow";
import { InvalidInput } from "../errors.ts";
import { eachLine, files, type Manifest, type StoredObject } from "./format.ts";
import { demandOneClient, type Own, readOwn } from "./own.ts";
import { withMachines } from "./with-machines.ts";

export interface Restored {
  /** Null: everything was brought back. */
  client: string | null;
  items: number;
  objects: number;
  /** Items that were there already. */
  kept: number;
  /** Records of an export of one client that are not its own, and its keys. */
  leftOut: number;
}

type RestorePorts = Pick<ServicePorts, "archive"> & Partial<Pick<ServicePorts, "stateMachines" | "templates">>;
export interface Checked extends Pick<Manifest, "client"> {
  isVerified: boolean;
  /** Whether an export that is not verified may bring back everything. Absent: at most the records of one client. */
  bringsEverything?: boolean;
}

const everything: Own = { brings: () => true, bringsObject: () => true };

/**
 * Brings back what an export holds, which was looked at (`checkExport`): objects first, since items name them, and
 * versions last. What is there stays as it is, so an import that broke off is repeated. Of one client's export only what
 * is that client's own is brought back; an export of everything that is not verified counts as one client's. Where there are ports for it the latest version of each workflow gets a state
 * machine.
 */
export async function restore(ports: RestorePorts, folder: string, checked: Checked): Promise<Restored> {
  const { isVerified, bringsEverything = isVerified } = checked;
  const client = checked.client ?? (bringsEverything ? null : await demandOneClient(ports.archive, folder));
  const own = client === null ? everything : await readOwn(ports.archive, folder, { client, isVerified });
  const restored: Restored = { client, items: 0, objects: 0, kept: 0, leftOut: 0 };
  const put = async (item: string) => {
    if (await ports.archive.putItem(item)) restored.items++;
    else restored.kept++;
  };
  await eachLine(join(folder, files.objects), async (line) => {
    const object = JSON.parse(line) as StoredObject;
    if (!own.bringsObject(object.key)) {
      restored.leftOut++;
      return;
    }
    await putObject(ports, folder, object);
    restored.objects++;
  });
  const versions: string[] = [];
  await eachLine(join(folder, files.items), async (line) => {
    if (!own.brings(line)) restored.leftOut++;
    else if (line.includes('"__edb_e__":{"S":"version"}')) versions.push(line);
    else await put(line);
  });
  const { stateMachines, templates } = ports;
  const runnable =
    stateMachines && templates ? await withMachines({ stateMachines, templates }, folder, versions) : versions;
  for (const item of runnable) await put(item);
  return restored;
}

async function putObject({ archive }: RestorePorts, folder: string, { key, ...known }: StoredObject): Promise<void> {
  await using file = await openInside(join(folder, "objects"), key);
  if (!file) throw new InvalidInput(`"${join(folder, "objects", key)}" is gone meanwhile - import again`);
  await archive.putObject(key, file.createReadStream({ autoClose: false }), known);
}
