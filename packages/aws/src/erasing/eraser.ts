import type { Eraser } from "@nova/service";
import type { BucketConnection } from "../s3/connection.ts";
import { removePrefix } from "../s3/remove-prefix.ts";
import type { EraserConnection } from "./connection.ts";
import { eraseContents } from "./erase-contents.ts";
import { eraseRest } from "./erase-rest.ts";
import { eraseTraces } from "./erase-traces.ts";

/** The one adapter that changes what lies in the chain's partitions; its role alone may (stacks/storage/chain-stays.ts). */
export function createEraser(connection: EraserConnection, bucket: BucketConnection): Eraser {
  return {
    contents: (at) => eraseContents(connection, at),
    traces: (execution) => eraseTraces(connection, execution),
    blobs: ({ client, root }) => removePrefix(bucket, `blobs/${client}/${root}/`),
    async objects(client) {
      await removePrefix(bucket, `blobs/${client}/`);
      await removePrefix(bucket, `uploads/${client}/`);
    },
    rest: (client, cursor) => eraseRest(connection, client, cursor),
  };
}
