import { join } from "node:path";
import { Deliveries } from "../deliveries/deliveries.ts";
import { keepingUndelivered } from "../deliveries/undelivered.ts";
import type { InvokeLambda } from "../lambda-types.ts";
import type { OnCreated } from "../s3/call.ts";
import type { RoomyOptions } from "./cloud-options.ts";
import { tellOfMails } from "./incoming-mail.ts";
import { deliver, functionArn } from "./lambda.ts";

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
