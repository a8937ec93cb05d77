import type { BlobHome } from "@nova/engine";

/** Bytes that a caller fetches where they lie: they are too many for an answer of the API. */
export interface BlobLinks {
  /** An address that answers this blob, for `seconds`; undefined where there is none, or no more. */
  sign(home: BlobHome, sha256: string, seconds: number): Promise<string | undefined>;
}
