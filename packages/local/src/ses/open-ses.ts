import type { AccessKey } from "../access/signature.ts";
import { AwsError } from "../aws-http/aws-error.ts";
import { type Listening, listen } from "../aws-http/listen.ts";
import { notServed } from "../aws-http/not-served.ts";
import { requestOf } from "../aws-http/request-of.ts";
import type { Room } from "../disk/room.ts";
import { keepMail } from "../mail/keep-mail.ts";
import { messageOf } from "./message.ts";

export interface SesOptions extends AccessKey {
  /** Mails are kept in its folder `mail`, and go nowhere. */
  dataDir: string;
  /** Of the data folder. */
  room?: Room;
}

/** SES (v2) on one machine: a mail that is sent is an .eml file that any mail program opens. */
export function openSes({ dataDir, accessKeyId, secretAccessKey, room }: SesOptions): Promise<Listening> {
  return listen({
    name: "SES",
    contentType: "application/json",
    accessKeyId,
    secretAccessKey,
    room,
    async answer({ method, url = "" }, body) {
      if (method !== "POST" || url.split("?")[0] !== "/v2/email/outbound-emails") {
        throw new AwsError("NotFoundException", notServed("SES (v2)", `${method} ${url}`, ["SendEmail"]), 404);
      }
      return { MessageId: await keepMail(`${dataDir}/mail`, await messageOf(requestOf(body))) };
    },
  });
}
