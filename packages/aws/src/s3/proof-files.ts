import type { BlobHome } from "@nova/engine";
import type { ProofFiles } from "@nova/service";
import { type BucketConnection, signGet, spoolUnmeasured, writeOnce } from "./objects.ts";

/** Creates the store of proof files in S3. A lifecycle rule of the bucket removes the files. */
export function createProofFiles(bucket: BucketConnection): ProofFiles {
  return {
    async share({ execution, ...home }, body, seconds) {
      await using file = await spoolUnmeasured(body);
      const { bytes, sha256 } = file;
      const key = `${proofFilePrefix(home)}${execution}-${sha256}.json`;
      await writeOnce(bucket, { key, bytes, sha256, contentType: "application/json", body: file.body });
      const shown = { ResponseContentDisposition: `attachment; filename="${execution}.proof.json"` };
      return signGet(bucket, key, seconds, shown);
    },
  };
}

/**
 * Returns the prefix of the proof files of a client, or of a run and its restarts. An erasure deletes all files with
 * this prefix.
 */
export function proofFilePrefix({ client, root }: Pick<BlobHome, "client"> & Partial<BlobHome>): string {
  return `proofs/files/${client}/${root === undefined ? "" : `${root}/`}`;
}
