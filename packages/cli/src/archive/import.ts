import { join } from "node:path";
import { toStateMachine } from "@nova/compiler";
import type { Signer } from "@nova/engine";
import type { FolderSecrets } from "@nova/local";
import { type Archive, type Claim, emptyDigest, extendDigest, type ServicePorts, sealedText } from "@nova/service";
import { openInside, type Workflow, workflowHash } from "@nova/workflow";
import { InvalidInput, throwInvalid } from "../errors.ts";
import { hashOf } from "../input/context.ts";
import { eachLine, files, type Manifest, objectKey, type StoredObject } from "./format.ts";

export interface Restored {
  /** The client whose records were restored; null if all records were restored. */
  client: string | null;
  items: number;
  objects: number;
  kept: number;
  /** The number of records that were not restored because they are API keys or do not belong to the client. */
  leftOut: number;
}

type RestorePorts = Pick<ServicePorts, "archive"> & Partial<Pick<ServicePorts, "stateMachines" | "templates">>;
export interface Checked extends Pick<Manifest, "client"> {
  isVerified: boolean;
  /**
   * True: `restore` restores everything in an unverified full export. Absent: `restore` restores only the records of
   * one client from an unverified export.
   */
  bringsEverything?: boolean;
}

const everything: OwnRecords = { brings: () => true, bringsObject: () => true };

/**
 * Restores an export that `checkExport` has accepted: first the objects, because items refer to them, and the versions
 * last. A stored item stays unchanged, so the user can repeat an interrupted import. From an export of one client, it
 * restores only the records of the client. From an unverified full export without `bringsEverything`, it also restores
 * only the records of one client. If `ports` can publish state machines, `restore` publishes a state machine for the
 * latest version of each workflow.
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
 * Publishes a state machine and a template for the latest version of each restored workflow. The other versions need no
 * state machine, because NOVA only reads these versions.
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

export interface OwnRecords {
  brings(item: string): boolean;
  bringsObject(key: string): boolean;
}

type OwnArchive = Pick<Archive, "claim" | "clientOf" | "hasWorkflow">;

/**
 * Kinds of records that an unverified export may restore. A record of another kind could start code, block the start of
 * a real delivery, or state something false in the audit log.
 */
const harmlessKinds = new Set([
  "client",
  "credential",
  "execution",
  "label",
  "link",
  "note",
  "spending",
  "stats",
  "step",
  "version",
]);

/**
 * Finds the client of an unverified full export. Throws `InvalidInput` unless all records belong to one client. Without
 * this check, an attacker could change the export of one client into a full export that restores API keys.
 */
export async function demandOneClient(archive: Pick<Archive, "claim">, folder: string): Promise<string> {
  const clients = new Set<string>();
  await eachLine(join(folder, files.items), async (item) => {
    const client = archive.claim(item)?.client;
    if (client !== undefined) clients.add(client);
  });
  const [client, ...others] = clients;
  if (client !== undefined && others.length === 0) return client;
  const found = client === undefined ? "no client" : `${clients.size} clients`;
  throw new InvalidInput(
    `"${folder}" is not verified, and has records of ${found} - if you trust its API keys, triggers and workflows, add --everything`,
  );
}

/**
 * Finds the records in an export that belong to one client: its runs, and the workflow versions that they ran. API keys
 * and shared data do not belong to the client. Throws `InvalidInput` if the importing NOVA already stores one of these
 * runs as the run of another client.
 */
export async function readOwn(
  archive: OwnArchive,
  folder: string,
  { client, isVerified }: { client: string; isVerified: boolean },
): Promise<OwnRecords> {
  const isTrusted = ({ kind, isOpen }: Claim) => isVerified || (harmlessKinds.has(kind) && !isOpen);
  const executions = new Set<string>();
  const versions = new Map<string, Set<number>>();
  await eachLine(join(folder, files.items), async (item) => {
    const claim = archive.claim(item);
    if (claim?.kind !== "execution" || claim.client !== client || !isTrusted(claim)) return;
    const { execution = "", version = { workflow: "", number: 0 } } = claim;
    const owner = await archive.clientOf(execution);
    if (owner !== undefined && owner !== client) {
      throw new InvalidInput(`execution ${execution} of the export is another client's here - nothing was restored`);
    }
    executions.add(execution);
    versions.set(version.workflow, (versions.get(version.workflow) ?? new Set()).add(version.number));
  });
  // An unverified version of an existing workflow is not restored: it would run for all clients, because they share
  // workflows.
  for (const workflow of isVerified ? [] : versions.keys())
    if (await archive.hasWorkflow(workflow)) versions.delete(workflow);
  return {
    brings(item) {
      const claim = archive.claim(item);
      if (!claim || !isTrusted(claim)) return false;
      const { workflow = "", number = 0 } = claim.version ?? {};
      if (claim.kind === "version") return versions.get(workflow)?.has(number) === true;
      const isOwn = claim.client === undefined || claim.client === client;
      return isOwn && (claim.execution === undefined || executions.has(claim.execution));
    },
    bringsObject(key) {
      const [place, name = ""] = key.split("/");
      return place === "blobs" ? name === client : versions.has(name);
    },
  };
}

const wayOut = "export again, or take another copy of the folder";
const maxJsonBytes = 1024 * 1024;
const maxDefinitionBytes = 64 * 1024 * 1024;

/**
 * Checks that a folder is a complete export. With `isTrusted: false`, the content of each object must also match the
 * hash in the name of the object. Throws `InvalidInput`.
 */
export async function checkExport(folder: string, { isTrusted }: { isTrusted: boolean }): Promise<Manifest> {
  const manifest = await readManifest(folder);
  let digest = emptyDigest;
  const items = await countLines(folder, files.items, async (item) => {
    digest = extendDigest(digest, [{ kind: "item", entity: "", item }]);
    JSON.parse(item);
  });
  const objects = await countLines(folder, files.objects, async (line) => {
    const object = JSON.parse(line) as StoredObject;
    digest = extendDigest(digest, [{ kind: "object", ...object }]);
    await checkObject(folder, object);
    if (!isTrusted) await demandNamed(folder, object);
  });
  for (const [name, found, written] of [
    [files.items, items, manifest.items],
    [files.objects, objects, manifest.objects],
  ] as const) {
    const what = `"${join(folder, name)}" has ${found} lines, but ${files.manifest} says ${written}`;
    if (found !== written) throw new InvalidInput(`${what} - ${wayOut}`);
  }
  if (manifest.digest === undefined || manifest.digest === digest) return manifest;
  throw new InvalidInput(`"${folder}" was changed: ${files.manifest} has another digest - ${wayOut}`);
}

/**
 * Reads the secrets with which NOVA decrypts and signs; undefined if the export has no secrets. The export of one
 * client must not contain secrets.
 */
export async function readSecretsOf(folder: string, { client }: Manifest): Promise<FolderSecrets | undefined> {
  const path = join(folder, files.secrets);
  const text = await readSmall(folder, files.secrets);
  if (text === undefined) return undefined;
  if (client !== null) throw new InvalidInput(`"${path}" must not be in an export of one client - remove it`);
  return parseJson<FolderSecrets>(text).catch(throwInvalid(`"${path}" was changed - ${wayOut}`));
}

async function parseJson<T>(text: string | undefined): Promise<T> {
  return JSON.parse(text ?? "") as T;
}

async function readManifest(folder: string): Promise<Manifest> {
  const manifest = await readSmall(folder, files.manifest)
    .then(parseJson<Manifest | null>)
    .catch(throwInvalid(`"${folder}" is not a complete export - name a folder that \`nova export\` wrote`));
  if (manifest?.format !== 1)
    throw new InvalidInput(`"${folder}" has format ${manifest?.format}, this version reads 1 - update NOVA`);
  const { client, digest, seal } = manifest;
  const isText = (value: unknown) => value === undefined || typeof value === "string";
  if ((client === null || typeof client === "string") && isText(digest) && isText(seal)) return manifest;
  throw new InvalidInput(`"${join(folder, files.manifest)}" was changed - ${wayOut}`);
}

async function readSmall(folder: string, name: string): Promise<string | undefined> {
  await using file = await openInside(folder, name).catch(throwInvalid(({ message }) => `"${folder}": ${message}`));
  if (!file) return undefined;
  if ((await file.stat()).size <= maxJsonBytes) return file.readFile("utf8");
  throw new InvalidInput(`"${join(folder, name)}" is too large - ${wayOut}`);
}

async function countLines(folder: string, name: string, check: (line: string) => Promise<void>): Promise<number> {
  const path = join(folder, name);
  let count = 0;
  const whatOf = (cause: Error) =>
    cause instanceof SyntaxError ? "has a line that is incomplete or was changed" : "cannot be read";
  const countLine = async (line: string) => {
    count++;
    await check(line);
  };
  await eachLine(path, countLine).catch(throwInvalid((cause) => `"${path}" ${whatOf(cause)} - ${wayOut}`));
  return count;
}

async function checkObject(folder: string, { key, bytes, sha256 }: StoredObject): Promise<void> {
  if (!objectKey.test(key)) throw new InvalidInput(`"${key}" is not a key of NOVA - "${folder}" was changed by hand`);
  const path = join(folder, "objects", key);
  const unreadable = throwInvalid(({ code, message }) => `"${path}" cannot be read (${code ?? message}) - ${wayOut}`);
  await using file = await openInside(join(folder, "objects"), key).catch(unreadable);
  if (!file) throw new InvalidInput(`"${path}" cannot be read (ENOENT) - ${wayOut}`);
  const found = await hashOf(file.createReadStream()).catch(unreadable);
  if (found.bytes === bytes && found.sha256 === sha256) return;
  throw new InvalidInput(`"${path}" was changed - ${wayOut}`);
}

async function demandNamed(folder: string, { key, bytes, sha256 }: StoredObject): Promise<void> {
  const name = key.split("/").at(-1);
  if (key.startsWith("blobs/") && name === sha256) return;
  if (!key.startsWith("blobs/") && bytes <= maxDefinitionBytes) {
    await using file = await openInside(join(folder, "objects"), key);
    if (file && name === `${workflowHash(JSON.parse(await file.readFile("utf8")))}.json`) return;
  }
  throw new InvalidInput(`"${join(folder, "objects", key)}" does not have the hash in its name - ${wayOut}`);
}

/** Says why an export is not verified; undefined if the export is verified. `signer` belongs to the importing NOVA. */
export async function explainUnverified(manifest: Manifest, signer: Signer | undefined): Promise<string | undefined> {
  const { client, digest, seal } = manifest;
  if (digest === undefined || seal === undefined)
    return "it has no signature: NOVA wrote it without the signing key, or the signature was removed";
  if (!signer) return "there is no key here to check its signature";
  if (await signer.verify(sealedText({ client, digest }), seal)) return undefined;
  return "the key here did not sign it: it comes from another NOVA, or was changed";
}

/** Throws `InvalidInput` unless the user trusts the folder. `why` says why the export is not verified. */
export function demandTrust(folder: string, why: string, isTrusted: boolean): void {
  if (isTrusted) return;
  const meaning = "then nothing proves that the restored data is the exported data";
  throw new InvalidInput(`"${folder}" is not verified: ${why} - if you trust the folder, add --unverified: ${meaning}`);
}
