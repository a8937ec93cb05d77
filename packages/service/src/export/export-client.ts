import type { Workflow } from "@nova/workflow";
import { recordDeed } from "../audit/record.ts";
import { clientOf } from "../clients/clients.ts";
import { Refused } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { Archive, ArchiveRecord } from "../ports/archive.ts";
import type { ServicePorts } from "../ports/index.ts";
import { seenBy } from "../workflows/seen-by.ts";
import { digestAfter, emptyDigest, isPage, type RunningDigest, sealExport, signPage } from "./seal.ts";

/** So long the addresses of a page can be used. */
const addressSeconds = 60 * 60;

type ArchivedObject = Extract<ArchiveRecord, { kind: "object" }>;
type ExportedObject = Omit<ArchivedObject, "text"> & { url: string };

/** An object comes with the address under which it can be fetched; one that is stored nowhere is in its address. */
export type ExportRecord = Extract<ArchiveRecord, { kind: "item" }> | ExportedObject;

export interface ExportPage {
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
  if (from?.digest !== undefined && !(await isPage(ports.signer, asked, from, from.signature))) {
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
  if (page.cursor === undefined) return { records, seal: await sealExport(signer, { client: slug, digest }) };
  const next = { at: page.cursor, digest };
  return { records, cursor: JSON.stringify({ ...next, signature: await signPage(signer, asked, next) }) };
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
