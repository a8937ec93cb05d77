import { hash } from "node:crypto";
import type { Workflow } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import { demandAllClients } from "../access/authenticate.ts";
import { recordDeed } from "../audit/audit.ts";
import { clientOf } from "../clients/clients.ts";
import { Refused } from "../errors.ts";
import type { Archive, ArchiveRecord, FormatPage, StoredFormat } from "../ports/archive.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import { redactWorkflow } from "../workflows/find.ts";

export interface SealedExport {
  /** The exported client; null: the export contains the data of all clients. */
  client: string | null;
  digest: string;
}

export const emptyDigest = "0".repeat(64);

/**
 * Extends a digest with records. The new digest covers their order, each byte of an item, and the size and key (a hash)
 * of an object.
 */
export function extendDigest(before: string, records: readonly ArchiveRecord[]): string {
  const hashOf = (text: string) => hash("sha256", text);
  return records.reduce((digest, record) => {
    return hashOf(`${digest}\n${record.kind === "item" ? record.item : JSON.stringify([record.key, record.bytes])}`);
  }, before);
}

/**
 * Returns the text that NOVA signs to seal an export. The same key also signs chains. The signed text of a chain has 64
 * hex digits, so a signature of a chain cannot pass for a seal, and a seal cannot pass for a signature of a chain.
 */
export function sealedText({ client, digest }: SealedExport): string {
  return `nova-export\n${JSON.stringify({ format: 1, client, digest })}`;
}

/**
 * The digest of all pages so far, and the position where the next page starts. NOVA signs both, since the caller passes
 * them from one page to the next.
 */
interface RunningDigest {
  at: string;
  digest: string;
}

/** `reach` is the client of the caller's key. */
type ExportScope = { client: string; reach: string | null };

function pageText({ client, reach }: ExportScope, { at, digest }: RunningDigest): string {
  return `nova-export-page\n${JSON.stringify([client, reach, at, digest])}`;
}

const addressSeconds = 60 * 60;

type ArchivedObject = Extract<ArchiveRecord, { kind: "object" }>;
type ExportedObject = Omit<ArchivedObject, "text"> & { url: string };

/**
 * An exported item, or an object with the URL that returns its bytes. If the export replaces the text of an object, the
 * URL is a data URL that contains the new text.
 */
type ExportRecord = Extract<ArchiveRecord, { kind: "item" }> | ExportedObject;

interface ExportPage {
  records: ExportRecord[];
  cursor?: string;
  /** On the last page: the signature over all pages, if each was requested with the previous page's cursor. */
  seal?: string;
}

/** The position where a page starts. A signed digest in it proves the contents of the previous pages. */
type Cursor = { at: string; digest?: undefined } | (RunningDigest & { signature: string });

/**
 * Returns a page of a client's stored data. If the caller's key is for one client, `redactWorkflow` removes the parts
 * of definitions that the caller may not see. Throws `NotFound`.
 */
export async function exportClient(
  ports: ServicePorts,
  by: Principal,
  slug: string,
  cursor?: string,
): Promise<ExportPage> {
  await clientOf(ports, by, slug);
  const scope = { client: slug, reach: by.client };
  const from = cursor === undefined ? undefined : cursorIn(cursor);
  if (from?.digest !== undefined && !(await ports.signer.verify(pageText(scope, from), from.signature))) {
    throw new Refused("the cursor is not one of this export - use a `next_cursor` as it was answered");
  }
  if (cursor === undefined) await recordDeed(ports, by, { action: "client.exported", client: slug, subject: slug });
  const { archive, signer } = ports;
  const seen = by.client !== null && { seen: (workflow: Workflow) => redactWorkflow(by, workflow) };
  const page = await archive.page({ client: slug, ...(from && { cursor: from.at }), ...seen });
  const records = await Promise.all(
    page.records.map(async (one) => (one.kind === "item" ? one : addUrl(archive, one))),
  );
  const before = from ? from.digest : emptyDigest;
  // An export that starts in the middle gets no signature, because the signature covers all pages.
  if (before === undefined) return { ...page, records };
  const digest = extendDigest(before, page.records);
  if (page.cursor === undefined) return { records, seal: await signer.sign(sealedText({ client: slug, digest })) };
  const next = { at: page.cursor, digest };
  return { records, cursor: JSON.stringify({ ...next, signature: await signer.sign(pageText(scope, next)) }) };
}

function cursorIn(text: string): Cursor {
  const cursor = JSON.parse(text) as Cursor | object;
  return "at" in cursor ? cursor : { at: text };
}

async function addUrl(archive: Archive, { text, ...object }: ArchivedObject): Promise<ExportedObject> {
  const url =
    text === undefined
      ? await archive.sign(object.key, addressSeconds)
      : `data:application/json;base64,${Buffer.from(text).toString("base64")}`;
  return { ...object, url };
}

type SurveyPorts = Pick<ServicePorts, "formats">;

/**
 * Number of pages, of one megabyte each, that `surveyPart` reads from the table for one answer. More pages would delay
 * other requests.
 */
const maxPages = 4;

/**
 * Counts how many records of each kind and format one part of the DynamoDB table holds. The part starts after the
 * cursor `after`. Throws `Forbidden` if the caller's key is for one client.
 */
export async function surveyPart(ports: SurveyPorts, by: Principal, after?: string): Promise<FormatPage> {
  demandAllClients(by);
  return survey(ports, maxPages, after);
}

export async function surveyAll(ports: SurveyPorts): Promise<StoredFormat[]> {
  return (await survey(ports, Number.POSITIVE_INFINITY)).formats;
}

async function survey({ formats }: SurveyPorts, pages: number, after?: string): Promise<FormatPage> {
  const found: StoredFormat[] = [];
  let cursor = after;
  for (let page = 0; page < pages; page++) {
    const part = await formats.page(cursor);
    found.push(...part.formats);
    cursor = part.cursor;
    if (cursor === undefined) break;
  }
  return { formats: sumFormats(found), ...defined({ cursor }) };
}

/** Adds up the counts of all parts. The result has one row for each kind and format, sorted by name. */
export function sumFormats(parts: Iterable<StoredFormat>): StoredFormat[] {
  const sums = new Map<string, StoredFormat>();
  for (const part of parts) {
    const name = `${part.entity} ${part.format}`;
    sums.set(name, { ...part, items: part.items + (sums.get(name)?.items ?? 0) });
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}
