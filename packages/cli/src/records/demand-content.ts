import { createHash } from "node:crypto";
import type { BlobRef } from "@nova/engine";
import { InvalidInput } from "../errors.ts";

/** What is run here has to be what ran there, whoever has sent it. */
export function demandContent({ sha256, bytes: length }: BlobRef, bytes: Uint8Array): void {
  if (bytes.length === length && createHash("sha256").update(bytes).digest("hex") === sha256) return;
  throw new InvalidInput(`the bytes ${sha256} are not what was recorded - they are not taken`);
}
