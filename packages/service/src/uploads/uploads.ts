import { type BlobHome, membersOf, newFileMark, objectText, type StartFile } from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { demandClient } from "../clients/clients.ts";
import { Conflict, Refused } from "../errors.ts";
import type { UploadTicket } from "../ports/archive.ts";
import { defaultClient } from "../ports/clients.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";

/** Matches `{"$upload": id}` in JSON text. It never matches inside a string, where a backslash precedes each quote. */
const uploadPattern = /\{\s*"\$upload"\s*:\s*"((?:[^"\\]|\\.)*)"\s*\}/g;
const wholeUploadPattern = new RegExp(`^${uploadPattern.source}$`);
const idPattern = /^upl_[0-9A-HJKMNP-TV-Z]{26}$/;
/** Maximum length of an invalid id in a message. */
const longestQuoted = 40;

type Placed = { sha256: string; bytes: number };

/**
 * Turns the uploads that a context names into blobs of the execution, and replaces the uploads in the context by
 * references to these blobs. An upload that is the whole value of a top-level key becomes a file of that name; the
 * inputs' schema does not apply to it. Throws the same `Refused` for an unknown upload and for an upload of another
 * client. Throws `Conflict` if the bytes of an upload have not arrived yet.
 */
export async function placeUploads(
  ports: Pick<ServicePorts, "uploads" | "clock">,
  home: BlobHome,
  context: string,
): Promise<{ context: string; files: StartFile[] }> {
  const ids = new Set(Array.from(context.matchAll(uploadPattern), ([, id = ""]) => id));
  if (ids.size === 0) return { context, files: [] };
  const placed = new Map<string, Placed>();
  for (const id of ids) placed.set(id, await placeUpload(ports, home, id));
  const files: StartFile[] = [];
  const rest = membersOf(context).flatMap(({ key, json }) => {
    const whole = placed.get(wholeUploadPattern.exec(json)?.[1] ?? "");
    if (whole) files.push({ key, ...whole });
    return whole
      ? []
      : [{ key, json: json.replaceAll(uploadPattern, (_, id: string) => addMark(placed.get(id) as Placed, files)) }];
  });
  return { context: objectText(rest), files };
}

function addMark(placed: Placed, files: StartFile[]): string {
  const mark = newFileMark();
  files.push({ mark, ...placed });
  return JSON.stringify(mark);
}

async function placeUpload({ uploads, clock }: Pick<ServicePorts, "uploads" | "clock">, home: BlobHome, id: string) {
  const upload = idPattern.test(id) ? await uploads.get(id) : undefined;
  if (!upload || upload.client !== home.client || upload.expiresAt * 1000 < clock.now()) {
    throw new Refused(
      `there is no upload "${id.slice(0, longestQuoted)}" - POST /uploads, and send the bytes to the address that it answers`,
    );
  }
  const placed = await uploads.place(upload, home);
  if (!placed) throw new Conflict(`nothing has come for upload "${id}" - send its bytes to its address first`);
  if (placed.bytes === upload.bytes) return placed;
  throw new Refused(
    `upload "${id}" has ${placed.bytes} bytes instead of the announced ${upload.bytes} - POST /uploads again`,
  );
}

/** Maximum size of an upload. The request that starts a run can copy this many bytes within its time limit. */
const maxBytes = 1024 ** 3;
const putWithinSeconds = 15 * 60;
const keptSeconds = 24 * 60 * 60;

export interface UploadRequest {
  ulid: string;
  bytes: number;
  type?: string;
  sha256?: string;
  /** The client of the upload; absent: the client of the key, or the default client. */
  client?: string;
}

/** A requested upload. `expiresAt` (ISO 8601): the caller must send the bytes before this time. */
export type RequestedUpload = UploadTicket & { id: string; expiresAt: string };

/**
 * Returns the URL and the headers of the request with which the caller uploads the bytes. Throws `NotFound`; `Refused`
 * if there are too many bytes.
 */
export async function requestUpload(
  ports: Pick<ServicePorts, "uploads" | "clients" | "clock">,
  by: Principal,
  { ulid, bytes, type = "application/octet-stream", sha256, client = by.client ?? defaultClient }: UploadRequest,
): Promise<RequestedUpload> {
  await demandClient(ports, by, client);
  if (bytes > maxBytes) throw new Refused(`an upload has at most ${maxBytes} bytes - send it in parts`);
  const now = ports.clock.now();
  const [createdAt, expiresAt] = [new Date(now).toISOString(), Math.floor(now / 1000) + keptSeconds];
  const upload = defined({ format: 1 as const, id: `upl_${ulid}`, client, bytes, type, createdAt, sha256, expiresAt });
  await ports.uploads.create(upload);
  const ticket = await ports.uploads.sign(upload, putWithinSeconds);
  return { ...ticket, id: upload.id, expiresAt: new Date(now + putWithinSeconds * 1000).toISOString() };
}
