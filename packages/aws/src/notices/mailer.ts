import type { Mailer } from "@nova/service";
import { mailService } from "../clients/mail-service.ts";
import { reaching } from "../clients/outage.ts";

/** Sends by SES from one address, which has to be verified there. */
export function createMailer({ from }: { from: string }): Mailer {
  const service = mailService();
  return {
    async send({ to, subject, text }) {
      const { client, sdk } = await service();
      const Simple = { Subject: { Data: subject, Charset: "UTF-8" }, Body: { Text: { Data: text, Charset: "UTF-8" } } };
      const Destination = { ToAddresses: to };
      const command = new sdk.SendEmailCommand({ FromEmailAddress: from, Destination, Content: { Simple } });
      await reaching("SES", () => client.send(command));
    },
  };
}
