import { join } from "node:path";
import { Deliveries, keepingUndelivered } from "../deliveries/deliveries.ts";
import type { InvokeLambda } from "../lambda-types.ts";
import type { OnCreated } from "../s3/call.ts";
import { deliver, functionArn } from "./lambda.ts";
import type { RoomyOptions } from "./local-cloud.ts";

/** Mails on their way from the bucket to the function that receives them. */
export interface Mails extends Pick<Deliveries, "drive" | "isBusy" | "rest" | "close"> {
  onCreated: OnCreated;
}

export function openMails({ dataDir, room }: RoomyOptions, invoke: InvokeLambda): Mails {
  const folder = join(dataDir, "incoming-mail");
  const toFunction = (arn: string, payload: string) => deliver(invoke, arn, payload);
  const undelivered = join(folder, "undelivered.ndjson");
  const deliveries = new Deliveries(
    join(folder, "deliveries.ndjson"),
    keepingUndelivered(toFunction, undelivered, Date.now, room),
    room,
  );
  return {
    onCreated: tellOfMails(deliveries, functionArn("nova-receive-mail")),
    drive: () => deliveries.drive(),
    isBusy: () => deliveries.isBusy(),
    rest: () => deliveries.rest(),
    close: () => deliveries.close(),
  };
}

const folder = "mail/";

/** What the bucket tells Lambda of mails: each is handed to the function that receives them, however often it takes. */
export function tellOfMails(deliveries: Pick<Deliveries, "add">, functionArn: string): OnCreated {
  return ({ bucket, key, bytes }) => {
    if (!key.startsWith(folder)) return;
    const s3 = {
      bucket: { name: bucket },
      object: { key: encodeURIComponent(key).replaceAll("%2F", "/"), size: bytes },
    };
    const record = { eventSource: "aws:s3", eventName: "ObjectCreated:Put", s3 };
    deliveries.add({ functionArn, payload: JSON.stringify({ Records: [record] }), inTurn: false });
  };
}
