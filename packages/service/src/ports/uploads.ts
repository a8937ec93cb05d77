import type { BlobHome } from "@nova/engine";

/** A file that a user uploads to the bucket through a signed URL. */
export interface Upload {
  format: 1;
  /** `upl_` and a ULID. */
  id: string;
  client: string;
  /** The exact size that the user announced. */
  bytes: number;
  /** Media type. */
  type: string;
  /** Hex; if the user announced it, the bytes need not be read again. */
  sha256?: string;
  /** ISO 8601. */
  createdAt: string;
  /** Seconds since the epoch, DynamoDB's time to live. The bytes expire with the record. */
  expiresAt: number;
}

/** The request that uploads the bytes. */
export interface UploadTicket {
  url: string;
  method: "PUT";
  /** Signed, so they must be sent unchanged. */
  headers: Record<string, string>;
}

export interface UploadStore {
  create(upload: Upload): Promise<void>;
  get(id: string): Promise<Upload | undefined>;
  /** Returns a URL that accepts exactly these bytes, for `seconds`. */
  sign(upload: Upload, seconds: number): Promise<UploadTicket>;
  /** Makes the upload a blob of `home`; undefined if nothing was uploaded. Throws `StoreUnavailable` while it is changing. */
  place(upload: Upload, home: BlobHome): Promise<{ sha256: string; bytes: number } | undefined>;
}

/** Signed URLs for blobs that are too large for an answer of the API. */
export interface BlobLinks {
  /** Returns a URL of this blob, for `seconds`, with this media type; undefined if the blob does not exist. */
  sign(home: BlobHome, sha256: string, seconds: number, type?: string): Promise<string | undefined>;
}
