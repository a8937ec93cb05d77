import type { BlobHome } from "@nova/engine";

/** Bytes that a caller fetches where they lie: they are too many for an answer of the API. */
export interface BlobLinks {
  /** An address that answers this blob, for `seconds`; whether it is there shows when it is asked. */
  sign(home: BlobHome, sha256: string, seconds: number): Promise<string>;
}
