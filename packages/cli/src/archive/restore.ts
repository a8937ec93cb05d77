import { join } from "node:path";
import { toStateMachine } from "@nova/compiler";
import type { ServicePorts } from "@nova/service";
import { openInside, type Workflow } from "@nova/workflow";
import { InvalidInput } from "../errors.ts";
import { eachLine, files, type Manifest, objectKey, type StoredObject } from "./format.ts";
import { demandOneClient, type OwnRecords, readOwn } from "./own.ts";

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

/** The fields of a stored version (in DynamoDB's JSON) that the import needs. */
interface VersionItem {
  workflowId: { S: string };
  version: { N: string };
  hash: { S: string };
  definition?: { S: string };
  stateMachineArn: { S: string };
  template: { S: string };
}

/**
 * Gives the latest version of each workflow a state machine and a template here. Other versions are only read, so they
 * need none.
 */
export async function addStateMachines(
  { stateMachines, templates }: Pick<ServicePorts, "stateMachines" | "templates">,
  folder: string,
  items: readonly string[],
): Promise<string[]> {
  const versions = items.map((item) => JSON.parse(item) as VersionItem);
  const latest = new Map<string, VersionItem>();
  for (const one of versions) {
    const id = one.workflowId.S;
    if (Number(latest.get(id)?.version.N ?? 0) < Number(one.version.N)) latest.set(id, one);
  }
  for (const one of latest.values()) {
    const workflow = await workflowOf(folder, one);
    const machine = JSON.stringify(toStateMachine(workflow));
    const name = `nova-${one.workflowId.S}`;
    one.stateMachineArn = { S: await stateMachines.publish(name, machine, `version ${one.version.N}`) };
    one.template = { S: await templates.of(workflow) };
  }
  return versions.map((one) => JSON.stringify(one));
}

async function workflowOf(folder: string, { workflowId, hash, definition }: VersionItem): Promise<Workflow> {
  if (definition) return JSON.parse(definition.S) as Workflow;
  const key = `workflows/${workflowId.S}/${hash.S}.json`;
  await using file = objectKey.test(key) ? await openInside(join(folder, "objects"), key) : undefined;
  if (file) return JSON.parse(await file.readFile("utf8")) as Workflow;
  throw new InvalidInput(`the export has no ${key}, which a version needs - export again`);
}
