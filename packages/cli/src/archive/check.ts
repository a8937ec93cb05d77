import { join } from "node:path";
import type { Signer } from "@nova/engine";
import type { FolderSecrets } from "@nova/local";
import { emptyDigest, extendDigest, sealedText } from "@nova/service";
import { openInside, workflowHash } from "@nova/workflow";
import { InvalidInput, throwInvalid } from "../errors.ts";
import { hashOf } from "../input/files.ts";
import { eachLine, files, type Manifest, objectKey, type StoredObject } from "./format.ts";

const wayOut = "export again, or take another copy of the folder";
const maxJsonBytes = 1024 * 1024;
const maxDefinitionBytes = 64 * 1024 * 1024;

/**
 * Checks that a folder is a complete export. If it is not trusted, each object must have the content that its name
 * says. Throws `InvalidInput`.
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

/** Reads the secrets that decrypt and sign, if the export has them. The export of a client must not have any. */
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

/** Says why an export is not verified; undefined if it is. `signer` belongs to the NOVA that imports it. */
export async function explainUnverified(manifest: Manifest, signer: Signer | undefined): Promise<string | undefined> {
  const { client, digest, seal } = manifest;
  if (digest === undefined || seal === undefined)
    return "it has no signature: NOVA wrote it without the signing key, or the signature was removed";
  if (!signer) return "there is no key here to check its signature";
  if (await signer.verify(sealedText({ client, digest }), seal)) return undefined;
  return "the key here did not sign it: it comes from another NOVA, or was changed";
}

/** Throws `InvalidInput` unless the user trusts the folder. */
export function demandTrust(folder: string, why: string, isTrusted: boolean): void {
  if (isTrusted) return;
  const meaning = "then nothing proves that the restored data is the exported data";
  throw new InvalidInput(`"${folder}" is not verified: ${why} - if you trust the folder, add --unverified: ${meaning}`);
}
