import type { Principal } from "../access/principal.ts";
import { recordDeed } from "../audit/record.ts";
import { clientOf } from "../clients/clients.ts";
import type { ArchiveRecord } from "../ports/archive.ts";
import type { ServicePorts } from "../ports/index.ts";

/** So long the addresses of a page can be used. */
const addressSeconds = 60 * 60;

/** An object comes with the address under which it can be fetched. */
export type ExportRecord =
  | Extract<ArchiveRecord, { kind: "item" }>
  | (Extract<ArchiveRecord, { kind: "object" }> & { url: string });

/** A page of all that is stored of a client. Throws `NotFound`. */
export async function exportClient(
  ports: ServicePorts,
  by: Principal,
  slug: string,
  cursor?: string,
): Promise<{ records: ExportRecord[]; cursor?: string }> {
  await clientOf(ports, by, slug);
  if (cursor === undefined) await recordDeed(ports, by, { action: "client.exported", client: slug, subject: slug });
  const { archive } = ports;
  const page = await archive.page({ client: slug, ...(cursor !== undefined && { cursor }) });
  const records = await Promise.all(
    page.records.map(async (one) =>
      one.kind === "item" ? one : { ...one, url: await archive.sign(one.key, addressSeconds) },
    ),
  );
  return { ...page, records };
}
