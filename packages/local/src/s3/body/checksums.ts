import { createHash } from "node:crypto";
import { Crc32, Crc32c, Crc64NvmeJs } from "@aws-sdk/checksums/crc";

/** As they stand in `x-amz-checksum-<algorithm>`. */
export const checksumAlgorithms = ["crc32", "crc32c", "crc64nvme", "sha1", "sha256"] as const;
export type ChecksumAlgorithm = (typeof checksumAlgorithms)[number];

export const digestBytes: Record<ChecksumAlgorithm, number> = {
  crc32: 4,
  crc32c: 4,
  crc64nvme: 8,
  sha1: 20,
  sha256: 32,
};

/** A running checksum; the digest has the most significant byte first. */
interface Checksum {
  update(chunk: Uint8Array): unknown;
  digest(): Uint8Array | Promise<Uint8Array>;
}

export function createChecksum(algorithm: ChecksumAlgorithm | "md5"): Checksum {
  if (algorithm === "crc32") return new Crc32();
  if (algorithm === "crc32c") return new Crc32c();
  if (algorithm === "crc64nvme") return new Crc64NvmeJs();
  return createHash(algorithm);
}

export async function digestOf(checksum: Checksum): Promise<Buffer> {
  return Buffer.from(await checksum.digest());
}

export function isChecksumAlgorithm(name: string): name is ChecksumAlgorithm {
  return (checksumAlgorithms as readonly string[]).includes(name);
}
