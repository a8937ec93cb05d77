import type { IncomingMail } from "@nova/service";
import type { BucketConnection } from "../s3/connection.ts";
import { readObject } from "../s3/read-object.ts";

/** Mails where SES puts them: under `mail/` in the bucket. */
export function createIncomingMail(connection: BucketConnection): IncomingMail {
  return { open: (key) => readObject(connection, key) };
}
