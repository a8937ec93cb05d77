import { createMailer } from "@nova/aws";
import { expect, it } from "vitest";
import { useScriptedService } from "./support/scripted-service.ts";

const ses = useScriptedService("AWS_ENDPOINT_URL_SESV2");
const operation = "POST /v2/email/outbound-emails";
const notice = {
  to: ["anna@example.com", "ops@example.com"],
  subject: "NOVA: größer",
  about: { execution: "exec_1", client: "acme" },
  text: "Workflow pay has failed.",
};

it("the mailer sends a text mail from the configured address", async () => {
  ses.steps = [{ operation, body: { MessageId: "m-1" } }];
  await createMailer({ from: "nova@example.com" }).send(notice);
  expect(ses.asked).toEqual([
    {
      operation,
      body: {
        FromEmailAddress: "nova@example.com",
        Destination: { ToAddresses: notice.to },
        Content: {
          Simple: {
            Subject: { Data: "NOVA: größer", Charset: "UTF-8" },
            Body: { Text: { Data: notice.text, Charset: "UTF-8" } },
            Headers: [
              { Name: "X-Nova-Execution", Value: "exec_1" },
              { Name: "X-Nova-Client", Value: "acme" },
            ],
          },
        },
      },
    },
  ]);
});

it("the mailer throws an error with the reason if SES refuses a mail", async () => {
  ses.steps = [{ operation, error: "MessageRejected" }];
  await expect(createMailer({ from: "nova@example.com" }).send(notice)).rejects.toMatchObject({
    name: "MessageRejected",
  });
});
