import { receiveMail } from "@nova/service";
import { z } from "zod";
import { answerOf } from "./details.ts";
import { serviceLambda } from "./service-lambda.ts";

const Notification = z.object({
  Records: z.array(z.object({ s3: z.object({ object: z.object({ key: z.string() }) }) })),
});

/** Pattern of the key of an object that is no mail. SES writes this object when a rule is created. */
const setupNotice = /\/AMAZON_SES_SETUP_NOTIFICATION$/;

/** Receives mails. This Lambda is called after SES has stored a mail in S3 under `mail/`. */
export const handler = serviceLambda(async (ports, event: unknown) => {
  // In notifications, S3 encodes keys like form fields: a space is `+`.
  const keys = Notification.parse(event).Records.map(({ s3 }) =>
    decodeURIComponent(s3.object.key.replaceAll("+", " ")),
  );
  const found = [];
  for (const key of keys.filter((one) => !setupNotice.test(one))) found.push(...(await receiveMail(ports, key)));
  return { deliveries: found.map(answerOf) };
});
