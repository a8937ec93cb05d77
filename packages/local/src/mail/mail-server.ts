import { monotonicFactory } from "ulid";
import { portError } from "../cloud/errors.ts";
import type { LocalCloud } from "../cloud/local-cloud.ts";
import { type MailServer, openSmtp, type SmtpOptions, smtpError } from "./smtp.ts";

export interface MailServerOptions extends Pick<SmtpOptions, "maxBytes"> {
  /** The port; 0: any free port. */
  port: number;
  /** Stores a mail for good. The sender gets an acknowledgement when it resolves, and tries again when it rejects. */
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
 * Plays SES on a laptop: accepts mail for any address and stores it under `mail/`, as SES does. Throws
 * `LocalCloudError` if the port is taken.
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
      const head = buildSesHeaders({
        client,
        from,
        sender,
        to: rcptTo.map(({ address }) => address),
        id,
        at: new Date(),
      });
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

/** The facts of a mail's transfer. */
interface Envelope {
  /** Address of the client. */
  client: string;
  from: string;
  /** The address in `From`; empty if it has none. */
  sender: string;
  /** All recipients: SES stores a mail once, however many of its recipients are ours. */
  to: readonly string[];
  /** The id of the stored mail. */
  id: string;
  at: Date;
}

/**
 * The headers that SES adds on top of a mail, in its order. A laptop does not check for spam or ask DNS, so the
 * verdicts are those of an honest mail.
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
