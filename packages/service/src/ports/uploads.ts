import type { BlobHome } from "@nova/engine";

/** Bytes that somebody puts into the bucket by an address that was signed for them. */
export interface Upload {
  format: 1;
  /** `upl_` and a ULID. */
  id: string;
  client: string;
  /** As many as were said, no more and no less. */
  bytes: number;
  /** Media type. */
  type: string;
  /** Hex; where it was said nobody has to read the bytes again to know it. */
  sha256?: string;
  /** ISO 8601. */
  createdAt: string;
  /** Seconds since the epoch, as DynamoDB's time to live has it: then the bytes are gone, too. */
  expiresAt: number;
}

/** How the bytes are sent. */
export interface UploadTicket {
  url: string;
  method: "PUT";
  /** To be sent as they are: they are signed. */
  headers: Record<string, string>;
}

export interface UploadStore {
  create(upload: Upload): Promise<void>;
  get(id: string): Promise<Upload | undefined>;
  /** An address that takes exactly these bytes, for `seconds`. */
  sign(upload: Upload, seconds: number): Promise<UploadTicket>;
  /** Makes what was uploaded a blob of `home`; undefined where nothing was. Throws `StoreUnavailable` where it is changing. */
  place(upload: Upload, home: BlobHome): Promise<{ sha256: string; bytes: number } | undefined>;
}

/** Bytes that a caller fetches where they lie: they are too many for an answer of the API. */
export interface BlobLinks {
  /** An address that answers this blob, for `seconds`, as this media type; undefined where there is none, or no more. */
  sign(home: BlobHome, sha256: string, seconds: number, type?: string): Promise<string | undefined>;
}
