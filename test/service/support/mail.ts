/** The headers that SES puts on top of a mail, as far as NOVA reads them. */
export interface SesHead {
  for?: string;
  spam?: string;
  virus?: string;
  authentication?: string;
}

export function sesHead({
  for: to = "invoices@in.example.com",
  spam = "PASS",
  virus = "PASS",
  authentication,
}: SesHead = {}): string {
  return [
    "Return-Path: <anna@example.com>",
    "Received: from mail.example.com (mail.example.com [192.0.2.1])",
    ` by inbound-smtp.us-east-1.amazonaws.com with SMTP id d6iitobk75ur44p8kdnnp7g2n800`,
    ` for ${to};`,
    " Fri, 20 Nov 2026 20:32:33 +0000 (UTC)",
    `X-SES-Spam-Verdict: ${spam}`,
    `X-SES-Virus-Verdict: ${virus}`,
    "Received-SPF: pass (spfCheck: domain of example.com designates 192.0.2.1 as permitted sender) client-ip=192.0.2.1;",
    `Authentication-Results: ${authentication ?? "amazonses.com; spf=pass; dkim=pass header.i=@example.com; dmarc=pass header.from=example.com;"}`,
    "X-SES-RECEIPT: AEFBQUFBQUFBQUFG",
    "X-SES-DKIM-SIGNATURE: a=rsa-sha256; q=dns/txt; b=abc",
    "",
  ].join("\r\n");
}

export const head = [
  "From: Anna Bell <Anna@Example.com>",
  "To: invoices@in.example.com",
  "Subject: Invoice =?utf-8?q?M=C3=A4rz?=",
  "Message-ID: <1@example.com>",
  "Date: Fri, 20 Nov 2026 21:32:30 +0100",
  "MIME-Version: 1.0",
].join("\r\n");

export interface Part {
  type: string;
  name?: string;
  body: Buffer | string;
}

/** A mail with a text and attachments. */
export function mailOf(parts: Part[] = [], { top = sesHead(), headers = head, text = "Please pay." } = {}): Buffer {
  const attached = parts.map(
    ({ type, name, body }) =>
      `--b\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: base64\r\n` +
      `Content-Disposition: attachment${name === undefined ? "" : `; filename="${name}"`}\r\n\r\n` +
      `${Buffer.from(body).toString("base64")}\r\n`,
  );
  const first = `--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n${text}\r\n`;
  return Buffer.from(
    `${top}${headers}\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${first}${attached.join("")}--b--\r\n`,
  );
}
