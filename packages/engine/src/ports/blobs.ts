/**
 * The client and the execution under which the blobs of an execution and of all its restarts are stored:
 * `blobs/<client>/<root>/<sha256>`.
 */
export interface BlobHome {
  client: string;
  root: string;
}

export type BlobType = "bytes" | "text" | "json";

/** A value that is not inline. `bytes` is the length of the stored form: raw bytes, UTF-8 text, or UTF-8 JSON. */
export interface BlobRef {
  sha256: string;
  bytes: number;
  type: BlobType;
}

/** The location of a blob in S3, for readers that access S3 directly. */
export interface BlobPlace {
  bucket: string;
  key: string;
}

/** Content-addressed blobs, written once and never changed (S3 with `If-None-Match: *`). */
export interface BlobStore {
  /**
   * Stores `body` under its hash, unless a blob with this hash exists. Throws `BlobMismatch` if `body` does not match
   * `ref`.
   */
  put(home: BlobHome, ref: BlobRef, body: Uint8Array | AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * Throws `BlobMissing` if the blob was erased, and `BlobMismatch` (for a stream at its end) if its bytes were
   * changed.
   */
  get(home: BlobHome, sha256: string): Promise<Uint8Array>;
  placeOf(home: BlobHome, sha256: string): BlobPlace;
  stream(home: BlobHome, sha256: string): Promise<AsyncIterable<Uint8Array>>;
}
