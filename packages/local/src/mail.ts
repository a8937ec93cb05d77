import { mkdir, readdir, readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { keepMail } from "@nova/aws-local/ses";
import type { SMTPServerSession } from "smtp-server";
import { monotonicFactory } from "ulid";
import { portError } from "./cloud/errors.ts";
import type { LocalCloud } from "./cloud/local-cloud.ts";

interface MailServerOptions extends Pick<SmtpOptions, "maxBytes"> {
  port: number;
  /**
   * Stores a mail permanently. If the promise resolves, the sender gets an acknowledgement. If it rejects, the sender
   * tries again later.
   */
  store(key: string, raw: Buffer): Promise<unknown>;
}

const nextId = monotonicFactory();

/** Receives mail for the triggers of a cloud that this process owns. `port` 0: any free port. */
export async function openMail(cloud: LocalCloud, { port }: { port: number }): Promise<MailServer> {
  const { PutObjectCommand, S3Client } = await import("@aws-sdk/client-s3");
  const s3 = new S3Client({ forcePathStyle: true });
  const { NOVA_BUCKET: Bucket } = cloud.environment;
  const store = (Key: string, Body: Buffer) => s3.send(new PutObjectCommand({ Bucket, Key, Body }));
  const server = await openMailServer({ port, store });
  return {
    port: server.port,
    async close() {
      await server.close();
      s3.destroy();
    },
  };
}

/**
 * Stands in for SES: accepts mail for any address and stores it under `mail/`. Throws `LocalCloudError` if the port is
 * taken.
 */
export async function openMailServer({ port, store, ...limits }: MailServerOptions): Promise<MailServer> {
  const { readHeaders, senderOf } = await import("@nova/service");
  const opening = openSmtp({
    port,
    ...limits,
    async take(raw, { remoteAddress: client, envelope: { mailFrom, rcptTo } }) {
      const id = nextId().toLowerCase();
      const from = mailFrom === false ? "" : mailFrom.address;
      const sender = senderOf(readHeaders(raw) ?? []);
      const to = rcptTo.map(({ address }) => address);
      const head = buildSesHeaders({ client, from, sender, to, id, at: new Date() });
      try {
        await store(`mail/${id}`, Buffer.concat([Buffer.from(head), raw]));
      } catch (error) {
        throw smtpError(451, `the mail could not be stored: ${error instanceof Error ? error.message : error}`);
      }
      return `OK ${id}`;
    },
  });
  return opening.catch((cause) => {
    throw portError(port, cause, "--smtp-port");
  });
}

/** The transfer of a mail: its sender, its recipients and its time. */
interface Envelope {
  client: string;
  from: string;
  /** The address in `From`; empty if it has none. */
  sender: string;
  /** All recipients of the mail. SES stores a mail once, and not once for each recipient. */
  to: readonly string[];
  id: string;
  at: Date;
}

/**
 * Builds the headers that SES puts before the headers of a mail, in the order of SES. A laptop does not check for spam
 * or ask DNS, so these headers say that the mail passed every check.
 */
function buildSesHeaders({ client, from, sender, to, id, at }: Envelope): string {
  const domain = sender.slice(sender.lastIndexOf("@") + 1);
  const dmarc = domain === "" ? "dmarc=none" : `dmarc=pass header.from=${domain}`;
  const lines = [
    `Return-Path: <${from}>`,
    `Received: from [${client}] by inbound-smtp.localhost with SMTP id ${id}`,
    ` for ${to.join(", ")};`,
    ` ${at.toUTCString().replace("GMT", "+0000")}`,
    "X-SES-Spam-Verdict: PASS",
    "X-SES-Virus-Verdict: PASS",
    `Received-SPF: pass (spfCheck: nobody looks on a laptop) client-ip=${client};`,
    `Authentication-Results: amazonses.com; spf=pass; ${dmarc};`,
    `X-SES-RECEIPT: ${id}`,
    "X-SES-DKIM-SIGNATURE: a=rsa-sha256; q=dns/txt; b=local",
  ];
  return `${lines.join("\r\n")}\r\n`;
}

/** A mail that the catcher has kept: its file and its headers. */
interface CaughtMail {
  file: string;
  from: string;
  to: string[];
  subject: string;
}

export interface MailCatcher extends MailServer {
  /** Returns all mails in the order of arrival, including those of earlier runs. */
  messages(): Promise<CaughtMail[]>;
}

/** Opens a mail server that delivers no mail: it keeps each mail as an .eml file that any mail program opens. */
export async function openMailCatcher({ dir, port = 0 }: { dir: string; port?: number }): Promise<MailCatcher> {
  await mkdir(dir, { recursive: true });
  const server = await openSmtp({ port, take: async (mail) => `OK ${await keepMail(dir, mail)}` });
  return { ...server, messages: () => readAll(dir) };
}

async function readAll(dir: string): Promise<CaughtMail[]> {
  const names = (await readdir(dir)).filter((name) => name.endsWith(".eml")).sort();
  return Promise.all(names.map((name) => read(join(dir, name))));
}

async function read(file: string): Promise<CaughtMail> {
  const { default: PostalMime } = await import("postal-mime");
  const mail = await PostalMime.parse(await readFile(file));
  const addresses = (mail.to ?? []).flatMap((to) => to.group ?? [to]);
  const to = addresses.map(({ address = "" }) => address);
  return { file, from: mail.from?.address ?? "", to, subject: mail.subject ?? "" };
}

/** The largest mail that SES accepts. */
const maxMailBytes = 40 * 1024 * 1024;

interface SmtpOptions {
  /** The port; absent or 0: any free port. */
  port?: number;
  /** The largest mail; absent: 40 MB, the limit of SES. */
  maxBytes?: number;
  /**
   * Stores a mail permanently. Resolves with the text for the sender. Rejects with a `smtpError` for any answer other
   * than "try again".
   */
  take(raw: Buffer, session: SMTPServerSession): Promise<string>;
}

export interface MailServer {
  port: number;
  close(): Promise<void>;
}

/** Opens a mail server that accepts mail for any address from any client. Rejects if the port is taken. */
async function openSmtp({ port = 0, maxBytes = maxMailBytes, take }: SmtpOptions): Promise<MailServer> {
  const { SMTPServer } = await import("smtp-server");
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    disableReverseLookup: true,
    size: maxBytes,
    closeTimeout: 1000,
    logger: false,
    onData(stream, session, done) {
      readMail(stream as AsyncIterable<Buffer>, maxBytes)
        .then((raw) => take(raw, session))
        .then((answer) => done(null, answer), done);
    },
  });
  // The server survives the error of a single connection, because a client may disconnect at any time.
  server.on("error", () => undefined);
  await new Promise<void>((resolve, reject) => {
    server.server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    port: (server.server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

/**
 * Reads a mail to its end, even if the mail is too large, because the client reads no answer before it has sent the
 * whole mail.
 */
async function readMail(stream: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes <= maxBytes) chunks.push(chunk);
  }
  if (bytes > maxBytes) throw smtpError(552, `a mail may have ${maxBytes} bytes`);
  return Buffer.concat(chunks);
}

/** Creates the error that answers the sender. Its code says whether another try may succeed. */
function smtpError(responseCode: number, message: string): Error {
  return Object.assign(new Error(message), { responseCode });
}
