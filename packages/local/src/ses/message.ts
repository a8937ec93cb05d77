import { z } from "zod";
import { AwsError } from "../aws-http/aws-error.ts";
import type { Request } from "../aws-http/request.ts";

const addresses = z.array(z.string()).optional();
const Part = z.object({ Data: z.string() });

/** What of SendEmail's request makes a mail. */
const Sent = z.object({
  from: z.string().optional(),
  to: z.object({ ToAddresses: addresses, CcAddresses: addresses, BccAddresses: addresses }).default({}),
  replyTo: addresses,
  content: z.union(
    [
      z.object({ Raw: z.object({ Data: z.base64() }) }),
      z.object({
        Simple: z.object({ Subject: Part, Body: z.object({ Text: Part.optional(), Html: Part.optional() }) }),
      }),
    ],
    { error: "Content must be Raw, or Simple with a Subject and a Body: the local SES has no templates." },
  ),
});

/** The mail as it would leave SES. Throws `BadRequestException`. */
export async function messageOf(request: Request): Promise<Buffer> {
  const parsed = Sent.safeParse({
    from: request.optionalText("FromEmailAddress"),
    to: request.optionalObject("Destination"),
    replyTo: request.list("ReplyToAddresses"),
    content: request.optionalObject("Content"),
  });
  if (!parsed.success) throw new AwsError("BadRequestException", parsed.error.issues.map(sentenceOf).join(" "));
  const { from, to, replyTo, content } = parsed.data;
  if ("Raw" in content) return Buffer.from(content.Raw.Data, "base64");
  const { Subject, Body } = content.Simple;
  return composed({
    ...(from !== undefined && { from }),
    ...{ to: to.ToAddresses ?? [], cc: to.CcAddresses ?? [], bcc: to.BccAddresses ?? [], replyTo: replyTo ?? [] },
    subject: Subject.Data,
    ...(Body.Text && { text: Body.Text.Data }),
    ...(Body.Html && { html: Body.Html.Data }),
  });
}

function sentenceOf({ path, message }: z.core.$ZodIssue): string {
  return path.length > 1 ? `${path.slice(1).join(".")}: ${message}.` : message;
}

async function composed(mail: object): Promise<Buffer> {
  const { createTransport } = await import("nodemailer");
  const { message } = await createTransport({ streamTransport: true, buffer: true }).sendMail(mail);
  return message as Buffer;
}
