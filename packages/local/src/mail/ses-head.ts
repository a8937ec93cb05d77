/** What is known of how a mail was handed over. */
export interface Envelope {
  /** Address of the client. */
  client: string;
  from: string;
  /** The address that `From` names; empty where it names none. */
  sender: string;
  /** Whom it is for: SES writes a mail once, however many of its recipients are ours. */
  to: readonly string[];
  /** Under which it was stored. */
  id: string;
  at: Date;
}

/**
 * The headers that SES puts above a mail, in its order. On a laptop nobody looks for spam or asks DNS, so the verdicts
 * are those of an honest mail.
 */
export function sesHead({ client, from, sender, to, id, at }: Envelope): string {
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
