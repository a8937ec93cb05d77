import { join } from "node:path";
import type { Signer } from "@nova/engine";
import type { FolderSecrets } from "@nova/local";
import { emptyDigest, extendDigest, sealedText } from "@nova/service";
import { openInside, workflowHash } from "@nova/workflow";
import { InvalidInput, refusing } from "../errors.ts";
import { hashOf } from "../input/files.ts";
import { eachLine, files, type Manifest, objectKey, type StoredObject } from "./format.ts";

const wayOut = "export again, or take another copy of the folder";
const maxJsonBytes = 1024 * 1024;
const maxDefinitionBytes = 64 * 1024 * 1024;

/** Throws `InvalidInput` unless it is a whole export; not trusted, each object has to be what its name says. */
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
    const what = `"${join(folder, name)}" has ${found} lines, and ${files.manifest} says ${written}`;
    if (found !== written) throw new InvalidInput(`${what} - ${wayOut}`);
  }
  if (manifest.digest === undefined || manifest.digest === digest) return manifest;
  throw new InvalidInput(`"${folder}" is not as it was written: ${files.manifest} has another digest - ${wayOut}`);
}

/** What opens and signs, where the export has it: one of a client never does. */
export async function readSecretsOf(folder: string, { client }: Manifest): Promise<FolderSecrets | undefined> {
  const path = join(folder, files.secrets);
  const text = await readSmall(folder, files.secrets);
  if (text === undefined) return undefined;
  if (client !== null) throw new InvalidInput(`"${path}" is in no export of one client - remove it`);
  return parsed<FolderSecrets>(text).catch(refusing(`"${path}" is not as it was written - ${wayOut}`));
}

async function parsed<T>(text: string | undefined): Promise<T> {
  return JSON.parse(text ?? "") as T;
}

async function readManifest(folder: string): Promise<Manifest> {
  const manifest = await readSmall(folder, files.manifest)
    .then(parsed<Manifest | null>)
    .catch(refusing(`"${folder}" is no whole export - name a folder that \`nova export\` wrote`));
  if (manifest?.format !== 1)
    throw new InvalidInput(`"${folder}" has format ${manifest?.format}, this release reads 1 - update NOVA`);
  const { client, digest, seal } = manifest;
  const isText = (value: unknown) => value === undefined || typeof value === "string";
  if ((client === null || typeof client === "string") && isText(digest) && isText(seal)) return manifest;
  throw new InvalidInput(`"${join(folder, files.manifest)}" is not as it was written - ${wayOut}`);
}

async function readSmall(folder: string, name: string): Promise<string | undefined> {
  await using file = await openInside(folder, name).catch(refusing(({ message }) => `"${folder}": ${message}`));
  if (!file) return undefined;
  if ((await file.stat()).size <= maxJsonBytes) return file.readFile("utf8");
  throw new InvalidInput(`"${join(folder, name)}" is larger than nova export writes it - ${wayOut}`);
}

async function countLines(folder: string, name: string, check: (line: string) => Promise<void>): Promise<number> {
  const path = join(folder, name);
  let count = 0;
  const whatOf = (cause: Error) =>
    cause instanceof SyntaxError ? "has a line that is cut off or was changed" : "cannot be read";
  const counted = async (line: string) => {
    count++;
    await check(line);
  };
  await eachLine(path, counted).catch(refusing((cause) => `"${path}" ${whatOf(cause)} - ${wayOut}`));
  return count;
}

async function checkObject(folder: string, { key, bytes, sha256 }: StoredObject): Promise<void> {
  if (!objectKey.test(key)) throw new InvalidInput(`"${key}" is no key of NOVA's - "${folder}" was changed by hand`);
  const path = join(folder, "objects", key);
  const unreadable = refusing(({ code, message }) => `"${path}" cannot be read (${code ?? message}) - ${wayOut}`);
  await using file = await openInside(join(folder, "objects"), key).catch(unreadable);
  if (!file) throw new InvalidInput(`"${path}" cannot be read (ENOENT) - ${wayOut}`);
  const found = await hashOf(file.createReadStream()).catch(unreadable);
  if (found.bytes === bytes && found.sha256 === sha256) return;
  throw new InvalidInput(`"${path}" is not as it was written - ${wayOut}`);
}

async function demandNamed(folder: string, { key, bytes, sha256 }: StoredObject): Promise<void> {
  const name = key.split("/").at(-1);
  if (key.startsWith("blobs/") && name === sha256) return;
  if (!key.startsWith("blobs/") && bytes <= maxDefinitionBytes) {
    await using file = await openInside(join(folder, "objects"), key);
    if (file && name === `${workflowHash(JSON.parse(await file.readFile("utf8")))}.json`) return;
  }
  throw new InvalidInput(`"${join(folder, "objects", key)}" is not what its name is the hash of - ${wayOut}`);
}

/** Why an export is not known to be what was exported; undefined: it is. `signer`: of the place that it goes to. */
export async function whyUnverified(manifest: Manifest, signer: Signer | undefined): Promise<string | undefined> {
  const { client, digest, seal } = manifest;
  if (digest === undefined || seal === undefined)
    return "it has no seal: an earlier release wrote it, or one without the signing key, or somebody took it out";
  if (!signer) return "there is no key here that could have sealed it";
  if (await signer.verify(sealedText({ client, digest }), seal)) return undefined;
  return "the key here has not sealed it: it comes from another NOVA, or was changed";
}

/** Throws `InvalidInput` unless somebody has said that it is trusted all the same. */
export function demandTrust(folder: string, why: string, isTrusted: boolean): void {
  if (isTrusted) return;
  const meaning = "nothing proves then that what is brought back is what was exported";
  throw new InvalidInput(`"${folder}" is not verified: ${why} - if you trust the folder, add --unverified: ${meaning}`);
}
