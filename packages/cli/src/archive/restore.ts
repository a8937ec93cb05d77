import { join } from "node:path";
import type { ServicePorts } from "@nova/service";
import { openInside } from "@nova/workflow";
import { InvalidInput } from "../errors.ts";
import { eachLine, files, type Manifest, type StoredObject } from "./format.ts";
import { demandOneClient, type OwnRecords, readOwn } from "./own.ts";
import { addStateMachines } from "./with-machines.ts";

export interface Restored {
  /** Null: everything was restored. */
  client: string | null;
  items: number;
  objects: number;
  /** Items that existed already. */
  kept: number;
  /** Records in the export of one client that are not its own, and its API keys. */
  leftOut: number;
}

type RestorePorts = Pick<ServicePorts, "archive"> & Partial<Pick<ServicePorts, "stateMachines" | "templates">>;
export interface Checked extends Pick<Manifest, "client"> {
  isVerified: boolean;
  /** Whether an unverified full export may restore everything. Absent: only the records of one client. */
  bringsEverything?: boolean;
}

const everything: OwnRecords = { brings: () => true, bringsObject: () => true };

/**
 * Restores an export that `checkExport` has accepted. Objects come first because items refer to them, and versions come
 * last. Existing items stay unchanged, so an interrupted import can be repeated. From the export of one client, or from
 * an unverified full export, only that client's own records are restored. If `ports` can publish state machines, the
 * latest version of each workflow gets one.
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
    stateMachines && templates ? await addStateMachines({ stateMachines, templates }, folder, versions) : versions;
  for (const item of runnable) await put(item);
  return restored;
}

async function putObject({ archive }: RestorePorts, folder: string, { key, ...known }: StoredObject): Promise<void> {
  await using file = await openInside(join(folder, "objects"), key);
  if (!file) throw new InvalidInput(`"${join(folder, "objects", key)}" has disappeared - import again`);
  await archive.putObject(key, file.createReadStream({ autoClose: false }), known);
}
