import { join } from "node:path";
import type { InvokeLambda, OnCreated } from "@nova/aws-local";
import { Deliveries } from "@nova/aws-local";
import { deliver, functionArn } from "./lambda.ts";
import type { EndpointOptions } from "./local-cloud.ts";

const folder = "mail/";

/** Delivers mails from the bucket to the function that receives them. */
export class Mails extends Deliveries {
  constructor({ dataDir, disk }: Pick<EndpointOptions, "dataDir" | "disk">, invoke: InvokeLambda) {
    super(join(dataDir, "incoming-mail"), (arn, payload) => deliver(invoke, arn, payload), disk);
  }

  /** Turns a stored mail into the notification that S3 sends to Lambda. */
  readonly onCreated: OnCreated = ({ bucket, key, bytes }) => {
    if (!key.startsWith(folder)) return;
    const s3 = {
      bucket: { name: bucket },
      object: { key: encodeURIComponent(key).replaceAll("%2F", "/"), size: bytes },
    };
    const record = { eventSource: "aws:s3", eventName: "ObjectCreated:Put", s3 };
    const payload = JSON.stringify({ Records: [record] });
    this.add({ functionArn: functionArn("nova-receive-mail"), payload, inTurn: false });
  };
}
