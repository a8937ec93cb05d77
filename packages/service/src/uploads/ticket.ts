import { demandClient } from "../clients/clients.ts";
import { Refused } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import { defaultClient } from "../ports/clients.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { UploadTicket } from "../ports/uploads.ts";

/** What one start can copy in the time that a request has. */
const mostBytes = 1024 ** 3;
const putWithinSeconds = 15 * 60;
const keptSeconds = 24 * 60 * 60;

export interface UploadRequest {
  /** ULID of the upload. */
  ulid: string;
  bytes: number;
  type?: string;
  /** SHA-256 of the bytes, in hex. */
  sha256?: string;
  /** Absent: the key's own, or the one that everything without a client belongs to. */
  client?: string;
}

/** `expiresAt`: until then the bytes can be sent; ISO 8601. */
export type RequestedUpload = UploadTicket & { id: string; expiresAt: string };

/** An address to which these bytes can be sent. Throws `NotFound`; `Refused` where they are too many. */
export async function requestUpload(
  ports: Pick<ServicePorts, "uploads" | "clients" | "clock">,
  by: Principal,
  { ulid, bytes, type = "application/octet-stream", sha256, client = by.client ?? defaultClient }: UploadRequest,
): Promise<RequestedUpload> {
  await demandClient(ports, by, client);
  if (bytes > mostBytes) throw new Refused(`an upload has at most ${mostBytes} bytes - send it in parts`);
  const now = ports.clock.now();
  const upload = {
    ...({ format: 1, id: `upl_${ulid}`, client, bytes, type, createdAt: new Date(now).toISOString() } as const),
    ...(sha256 !== undefined && { sha256 }),
    expiresAt: Math.floor(now / 1000) + keptSeconds,
  };
  await ports.uploads.create(upload);
  const ticket = await ports.uploads.sign(upload, putWithinSeconds);
  return { ...ticket, id: upload.id, expiresAt: new Date(now + putWithinSeconds * 1000).toISOString() };
}
