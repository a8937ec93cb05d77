/** Where the blobs of an execution and of everything restarted from it live: `blobs/<client>/<root>/<sha256>`. */
export interface BlobHome {
  client: string;
  /** Id of the first execution of a family of restarts. */
  root: string;
}

export type BlobType = "bytes" | "text" | "json";

/** A value that is not inline. `bytes` is the length of what is stored: raw bytes, UTF-8 text, or UTF-8 JSON. */
export interface BlobRef {
  sha256: string;
  bytes: number;
  type: BlobType;
}

/** Where S3 has a blob, for whoever reads it there without us. */
export interface BlobPlace {
  bucket: string;
  key: string;
}

/** Content-addressed, written once, never changed (S3 with `If-None-Match: *`). */
export interface BlobStore {
  /** Stores `body` under its hash, if it is not there yet. Throws `BlobMismatch` where it does not fit `ref`. */
  put(home: BlobHome, ref: BlobRef, body: Uint8Array | AsyncIterable<Uint8Array>): Promise<void>;
  /** Throws `BlobMissing` when it was erased, `BlobMismatch` (a stream at its end) when it was changed. */
  get(home: BlobHome, sha256: string): Promise<Uint8Array>;
  placeOf(home: BlobHome, sha256: string): BlobPlace;
  stream(home: BlobHome, sha256: string): Promise<AsyncIterable<Uint8Array>>;
}
