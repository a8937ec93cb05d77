import { hash } from "node:crypto";
import type { Workflow } from "@nova/workflow";
import { recordDeed } from "../audit/audit.ts";
import { clientOf } from "../clients/clients.ts";
import { Refused } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { Archive, ArchiveRecord } from "../ports/archive.ts";
import type { ServicePorts } from "../ports/index.ts";
import { seenBy } from "../workflows/show.ts";

/** What is sealed of an export. */
export interface Sealed {
  /** Null: everything is in it. */
  client: string | null;
  digest: string;
}

/** The digest of no record at all. */
export const emptyDigest = "0".repeat(64);

/** Of records behind those of `before`: their order, each byte of an item, size and key (its hash) of an object. */
export function digestAfter(before: string, records: readonly ArchiveRecord[]): string {
  const hashOf = (text: string) => hash("sha256", text);
  return records.reduce((digest, record) => {
    return hashOf(`${digest}\n${record.kind === "item" ? record.item : JSON.stringify([record.key, record.bytes])}`);
  }, before);
}

/** What the seal of an export signs, with the key that signs chains. A chain's signature is over 64 hex digits: a text that begins with a name can never be one, nor the other way round. */
export function sealedText({ client, digest }: Sealed): string {
  return `nova-export\n${JSON.stringify({ format: 1, client, digest })}`;
}

/** What a page hands to the next one: what all pages so far held, signed, since it travels through whoever asks. */
interface RunningDigest {
  /** Where the next page begins. */
  at: string;
  digest: string;
}

/** `reach` is the client of the key that asks. */
type Asked = { client: string; reach: string | null };

function pageText({ client, reach }: Asked, { at, digest }: RunningDigest): string {
  return `nova-export-page\n${JSON.stringify([client, reach, at, digest])}`;
}

/** So long the addresses of a page can be used. */
const addressSeconds = 60 * 60;

type ArchivedObject = Extract<ArchiveRecord, { kind: "object" }>;
type ExportedObject = Omit<ArchivedObject, "text"> & { url: string };

/** An object comes with the address under which it can be fetched; one that is stored nowhere is in its address. */
type ExportRecord = Extract<ArchiveRecord, { kind: "item" }> | ExportedObject;

interface ExportPage {
  records: ExportRecord[];
  cursor?: string;
  /** Of the last page: signs what all pages held, where each was asked for with the cursor of the one before. */
  seal?: string;
}

/** A cursor: with a digest the pages before are known. */
type Cursor = { at: string; digest?: undefined } | (RunningDigest & { signature: string });

/** A page of all that is stored of a client; with its own key definitions are what `seenBy` leaves. Throws `NotFound`. */
export async function exportClient(
  ports: ServicePorts,
  by: Principal,
  slug: string,
  cursor?: string,
): Promise<ExportPage> {
  await clientOf(ports, by, slug);
  const asked = { client: slug, reach: by.client };
  const from = cursor === undefined ? undefined : cursorIn(cursor);
  if (from?.digest !== undefined && !(await ports.signer.verify(pageText(asked, from), from.signature))) {
    throw new Refused("the cursor is not one of this export - use a `next_cursor` as it was answered");
  }
  if (cursor === undefined) await recordDeed(ports, by, { action: "client.exported", client: slug, subject: slug });
  const { archive, signer } = ports;
  const seen = by.client !== null && { seen: (workflow: Workflow) => seenBy(by, workflow) };
  const page = await archive.page({ client: slug, ...(from && { cursor: from.at }), ...seen });
  const records = await Promise.all(
    page.records.map(async (one) => (one.kind === "item" ? one : withAddress(archive, one))),
  );
  const before = from ? from.digest : emptyDigest;
  // Who began in the middle has not seen what lies before.
  if (before === undefined) return { ...page, records };
  const digest = digestAfter(before, page.records);
  if (page.cursor === undefined) return { records, seal: await signer.sign(sealedText({ client: slug, digest })) };
  const next = { at: page.cursor, digest };
  return { records, cursor: JSON.stringify({ ...next, signature: await signer.sign(pageText(asked, next)) }) };
}

function cursorIn(text: string): Cursor {
  const cursor = JSON.parse(text) as Cursor | object;
  return "at" in cursor ? cursor : { at: text };
}

async function withAddress(archive: Archive, { text, ...object }: ArchivedObject): Promise<ExportedObject> {
  const url =
    text === undefined
      ? await archive.sign(object.key, addressSeconds)
      : `data:application/json;base64,${Buffer.from(text).toString("base64")}`;
  return { ...object, url };
}
