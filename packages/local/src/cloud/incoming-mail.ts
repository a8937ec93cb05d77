import type { Deliveries } from "../deliveries/deliveries.ts";
import type { OnCreated } from "../s3/call.ts";

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
