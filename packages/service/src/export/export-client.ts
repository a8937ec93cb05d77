import type { Workflow } from "@nova/workflow";
import type { Principal } from "../access/principal.ts";
import { recordDeed } from "../audit/record.ts";
import { clientOf } from "../clients/clients.ts";
import type { Archive, ArchiveRecord } from "../ports/archive.ts";
import type { ServicePorts } from "../ports/index.ts";
import { seenBy } from "../workflows/seen-by.ts";

/** So long the addresses of a page can be used. */
const addressSeconds = 60 * 60;

type ArchivedObject = Extract<ArchiveRecord, { kind: "object" }>;
type ExportedObject = Omit<ArchivedObject, "text"> & { url: string };

/** An object comes with the address under which it can be fetched; one that is stored nowhere is in its address. */
export type ExportRecord = Extract<ArchiveRecord, { kind: "item" }> | ExportedObject;

/** A page of all that is stored of a client; with its own key definitions are what `seenBy` leaves. Throws `NotFound`. */
export async function exportClient(
  ports: ServicePorts,
  by: Principal,
  slug: string,
  cursor?: string,
): Promise<{ records: ExportRecord[]; cursor?: string }> {
  await clientOf(ports, by, slug);
  if (cursor === undefined) await recordDeed(ports, by, { action: "client.exported", client: slug, subject: slug });
  const { archive } = ports;
  const seen = by.client !== null && { seen: (workflow: Workflow) => seenBy(by, workflow) };
  const page = await archive.page({ client: slug, ...(cursor !== undefined && { cursor }), ...seen });
  const records = await Promise.all(
    page.records.map(async (one) => (one.kind === "item" ? one : withAddress(archive, one))),
  );
  return { ...page, records };
}

async function withAddress(archive: Archive, { text, ...object }: ArchivedObject): Promise<ExportedObject> {
  const url =
    text === undefined
      ? await archive.sign(object.key, addressSeconds)
      : `data:application/json;base64,${Buffer.from(text).toString("base64")}`;
  return { ...object, url };
}
