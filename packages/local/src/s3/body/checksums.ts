import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { type Checksum, createCrc32c, createCrc64Nvme } from "./crc.ts";

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

export function createChecksum(algorithm: ChecksumAlgorithm | "md5"): Checksum {
  if (algorithm === "crc32") return createCrc32();
  if (algorithm === "crc32c") return createCrc32c();
  if (algorithm === "crc64nvme") return createCrc64Nvme();
  return createHash(algorithm);
}

function createCrc32(): Checksum {
  let crc = 0;
  return {
    update(chunk) {
      crc = crc32(chunk, crc);
    },
    digest() {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(crc);
      return bytes;
    },
  };
}

export function isChecksumAlgorithm(name: string): name is ChecksumAlgorithm {
  return (checksumAlgorithms as readonly string[]).includes(name);
}
