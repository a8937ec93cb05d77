import { createHash } from "node:crypto";
import type { FileInput } from "@nova/engine";

/** Bytes under a key of the initial context, as `nova run --file` gives them. */
export function fileInput(key: string, bytes: Buffer): FileInput {
  return {
    key,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    bytes: bytes.length,
    async *open() {
      yield bytes;
    },
  };
}
