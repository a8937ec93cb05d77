import { mkdir, open, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { NovaClient } from "@nova/client";
import {
  type ArchiveRecord,
  emptyDigest,
  extendDigest,
  type SealedExport,
  type ServicePorts,
  sealedText,
} from "@nova/service";
import { defined } from "@nova/workflow/defined";
import { fetchSigned } from "../api/client.ts";
import { InvalidInput } from "../errors.ts";
import { inNewFolder } from "../files.ts";
import { hashOf } from "../input/context.ts";
import { files, type Manifest, objectKey, type StoredObject } from "./format.ts";

const atOnce = 8;

/** The content of an export: the data of `client`, or all data if `client` is null. `secrets` is JSON text. */
interface ExportOf {
  client: string | null;
  secrets?: string;
}

/** Writes everything from `source` to `folder`, which must be new or empty. */
export async function writeExport(source: ExportSource, folder: string, of: ExportOf): Promise<Manifest> {
  return inNewFolder(folder, { wayOut: "name a new folder", mode: 0o700 }, () => write(source, folder, of));
}

async function write(source: ExportSource, folder: string, { client, secrets }: ExportOf): Promise<Manifest> {
  await using items = await open(join(folder, files.items), "wx", 0o600);
  await using objects = await open(join(folder, files.objects), "wx", 0o600);
  const counts = { items: 0, objects: 0 };
  // The written objects by key. Each object is written once, even if several records refer to the object.
  const written = new Map<string, Promise<StoredObject>>();
  const writeOnce = (object: Found & { kind: "object" }) => {
    const there = written.get(object.key) ?? writeObject(source, folder, object);
    written.set(object.key, there);
    return there;
  };
  let digest = emptyDigest;
  for (let cursor: string | undefined; ; ) {
    const page = await source.page(cursor);
    digest = extendDigest(digest, page.records);
    for (const one of page.records) if (one.kind === "item") await items.appendFile(`${one.item}\n`);
    const found = page.records.filter((one) => one.kind === "object");
    counts.objects += found.length;
    counts.items += page.records.length - found.length;
    while (found.length > 0) {
      const part = await Promise.all(found.splice(0, atOnce).map(writeOnce));
      for (const one of part) await objects.appendFile(`${JSON.stringify(one)}\n`);
    }
    cursor = page.cursor;
    if (cursor === undefined) break;
  }
  if (secrets !== undefined) await writeFile(join(folder, files.secrets), secrets, { mode: 0o600 });
  const seal = await source.seal({ client, digest });
  const at = new Date().toISOString();
  const manifest: Manifest = { format: 1, client, at, ...counts, digest, ...defined({ seal }) };
  await writeFile(join(folder, files.manifest), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

async function writeObject(
  source: ExportSource,
  folder: string,
  object: { key: string; bytes: number; url?: string },
): Promise<StoredObject> {
  if (!objectKey.test(object.key))
    throw new InvalidInput(`"${object.key}" is not a key of NOVA - ask the operator of the server`);
  const path = join(folder, "objects", object.key);
  await mkdir(dirname(path), { recursive: true });
  const changed = new InvalidInput(`${object.key} changed during the export - export again`);
  await using file = await open(path, "wx", 0o600);
  const { bytes, sha256 } = await hashOf(await source.open(object), async (chunk, soFar) => {
    if (soFar > object.bytes) throw changed;
    await file.write(chunk);
  });
  if (bytes !== object.bytes) throw changed;
  return { key: object.key, bytes, sha256 };
}

export type Found = ArchiveRecord & { url?: string };

export interface ExportSource {
  page(cursor?: string): Promise<{ records: Found[]; cursor?: string }>;
  /** Returns the signature over the data of all pages; undefined if the deployment has no signing key. */
  seal(sealed: SealedExport): Promise<string | undefined>;
  open(object: { key: string; url?: string }): Promise<AsyncIterable<Uint8Array>>;
}

type StoredPorts = Pick<ServicePorts, "archive"> & Partial<Pick<ServicePorts, "signer">>;

/** Makes an export source that reads the table and the bucket directly. */
export function storedSource({ archive, signer }: StoredPorts, client?: string): ExportSource {
  return {
    seal: async (sealed) => signer?.sign(sealedText(sealed)),
    page: (cursor) => archive.page({ client, cursor }),
    open: ({ key }) => archive.read(key),
  };
}

/** Makes an export source that reads the data of one client from the server in `NOVA_URL`. */
export function serverSource(nova: NovaClient, client: string): ExportSource {
  let seal: string | undefined;
  return {
    seal: async () => seal,
    async page(cursor) {
      const params = { path: { slug: client }, query: defined({ cursor }) };
      const page = await nova.ask(nova.api.GET("/clients/{slug}/export", { params }));
      seal = page.seal;
      // DynamoDB's JSON contains numbers as texts, so parsing loses no digits.
      const found = (one: (typeof page.items)[0]): Found =>
        one.kind === "item" ? { ...one, item: JSON.stringify(one.item) } : one;
      return { records: page.items.map(found), ...defined({ cursor: page.next_cursor ?? undefined }) };
    },
    async open({ key, url = "" }) {
      const answer = await fetchSigned(url, key);
      if (answer.body) return answer.body;
      throw new InvalidInput(`${key} arrived without content - export again`);
    },
  };
}
