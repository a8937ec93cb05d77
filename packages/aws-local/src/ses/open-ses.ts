import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Listening, writeWhole } from "@nova/serve-local";
import { monotonicFactory } from "ulid";
import { z } from "zod";
import type { AccessKey } from "../access/signature.ts";
import { AwsError } from "../aws-http/aws-error.ts";
import { listen } from "../aws-http/listen.ts";
import { describeServed, findOperation, parseRequest, type Request } from "../aws-http/request.ts";
import type { DiskSpace } from "../disk/disk-space.ts";

export interface SesOptions extends AccessKey {
  /** The data folder. Its subfolder `mail` stores the mails, which are never really sent. */
  dataDir: string;
  /** The port on 127.0.0.1; absent or 0: any free port. */
  port?: number;
  /** The disk of the data folder. */
  disk?: DiskSpace;
}

/** Opens SES (v2): each mail becomes an .eml file that any mail program opens. */
export function openSes({ dataDir, accessKeyId, secretAccessKey, disk, port }: SesOptions): Promise<Listening> {
  return listen({
    name: "SES",
    contentType: "application/json",
    accessKeyId,
    secretAccessKey,
    disk,
    port,
    read({ method, url = "" }, body) {
      if (method !== "POST" || url.split("?")[0] !== "/v2/email/outbound-emails") {
        throw new AwsError("NotFoundException", describeServed("SES (v2)", `${method} ${url}`, ["SendEmail"]), 404);
      }
      return ["SendEmail", parseRequest(body)];
    },
    perform: (operation, input) => findOperation("SES (v2)", operation, { SendEmail })(input),
  });
  async function SendEmail(input: Request): Promise<object> {
    return { MessageId: await keepMail(`${dataDir}/mail`, await messageOf(input)) };
  }
}

const addresses = z.array(z.string()).optional();
const Part = z.object({ Data: z.string() });

/** The fields of SendEmail that make up a mail. */
const Sent = z.object({
  from: z.string().optional(),
  to: z.object({ ToAddresses: addresses, CcAddresses: addresses, BccAddresses: addresses }).default({}),
  replyTo: addresses,
  content: z.union(
    [
      z.object({ Raw: z.object({ Data: z.base64() }) }),
      z.object({
        Simple: z.object({
          Subject: Part,
          Body: z.object({ Text: Part.optional(), Html: Part.optional() }),
          Headers: z.array(z.object({ Name: z.string(), Value: z.string() })).default([]),
        }),
      }),
    ],
    { error: "Content must be Raw, or Simple with a Subject and a Body: the local SES has no templates." },
  ),
});

/** Returns the complete mail of a SendEmail request, as SES would send it. Throws `BadRequestException`. */
export async function messageOf(request: Request): Promise<Buffer> {
  const parsed = Sent.safeParse({
    from: request.optionalText("FromEmailAddress"),
    to: request.map("Destination"),
    replyTo: request.list("ReplyToAddresses"),
    content: request.map("Content"),
  });
  if (!parsed.success) throw new AwsError("BadRequestException", parsed.error.issues.map(sentenceOf).join(" "));
  const { from, to, replyTo, content } = parsed.data;
  if ("Raw" in content) return Buffer.from(content.Raw.Data, "base64");
  const { Subject, Body, Headers } = content.Simple;
  return composeMail({
    ...(from !== undefined && { from }),
    to: to.ToAddresses ?? [],
    cc: to.CcAddresses ?? [],
    bcc: to.BccAddresses ?? [],
    replyTo: replyTo ?? [],
    subject: Subject.Data,
    headers: Headers.map(({ Name, Value }) => ({ key: Name, value: Value })),
    ...(Body.Text && { text: Body.Text.Data }),
    ...(Body.Html && { html: Body.Html.Data }),
  });
}

function sentenceOf({ path, message }: z.core.$ZodIssue): string {
  return path.length > 1 ? `${path.slice(1).join(".")}: ${message}.` : message;
}

async function composeMail(mail: object): Promise<Buffer> {
  const { createTransport } = await import("nodemailer");
  const { message } = await createTransport({ streamTransport: true, buffer: true }).sendMail(mail);
  return message as Buffer;
}

const nextId = monotonicFactory();

/**
 * Writes a mail as an .eml file and returns its name. Names sort in the order of arrival. The file is complete as soon
 * as it is visible.
 */
export async function keepMail(dir: string, mail: Buffer): Promise<string> {
  const id = nextId();
  const path = join(dir, `${id}.eml`);
  await mkdir(dir, { recursive: true });
  writeWhole(path, mail);
  return id;
}
