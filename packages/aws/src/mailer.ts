import type { Mailer } from "@nova/service";
import { mailService } from "./clients/loaded.ts";
import { reportOutage } from "./clients/outage.ts";

/**
 * Creates a mailer that sends mails with SES. The sender is `from`, unless a notice names its own sender. SES must have
 * verified both addresses.
 */
export function createMailer({ from: own }: { from: string }): Mailer {
  const service = mailService();
  return {
    async send({ to, from = own, subject, text, about }) {
      const { client, sdk } = await service();
      const Headers = [
        { Name: "X-Nova-Execution", Value: about.execution },
        ...(about.client === undefined ? [] : [{ Name: "X-Nova-Client", Value: about.client }]),
      ];
      const Body = { Text: { Data: text, Charset: "UTF-8" } };
      const Simple = { Subject: { Data: subject, Charset: "UTF-8" }, Body, Headers };
      const Destination = { ToAddresses: to };
      const command = new sdk.SendEmailCommand({ FromEmailAddress: from, Destination, Content: { Simple } });
      await reportOutage("SES", () => client.send(command));
    },
  };
}
