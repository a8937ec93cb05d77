/** Returns the headers that SES puts on top of a mail and that NOVA reads. */
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

/** Returns a mail with a text and attachments. */
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

/** A MAPI property of variable size: its type, its id and its bytes. */
export type MapiProperty = [type: number, id: number, value: Buffer];

export interface TnefPart {
  title?: string;
  data?: Buffer;
  properties?: MapiProperty[];
  /** If true, a property of fixed size and a named property come before the other properties. */
  crowded?: boolean;
}

/** Returns a `winmail.dat` as Outlook writes it: a version, the body of the message, and the attachments. */
export function tnefOf(parts: TnefPart[]): Buffer {
  const attributes = [attribute(1, 0x00089006, Buffer.from([0, 0, 1, 0]))];
  for (const { title, data, properties, crowded } of parts) {
    attributes.push(attribute(2, 0x00069002, Buffer.alloc(14)));
    if (title !== undefined) attributes.push(attribute(2, 0x00018010, Buffer.from(`${title}\0`, "latin1")));
    if (data) attributes.push(attribute(2, 0x0006800f, data));
    if (properties) attributes.push(attribute(2, 0x00069005, propertyList(properties, crowded)));
  }
  return Buffer.concat([Buffer.from([0x78, 0x9f, 0x3e, 0x22, 1, 0]), ...attributes]);
}

function attribute(level: number, id: number, value: Buffer): Buffer {
  const sum = value.reduce((all, byte) => (all + byte) & 0xffff, 0);
  return Buffer.concat([Buffer.from([level]), u32(id), u32(value.length), value, u16(sum)]);
}

function propertyList(properties: MapiProperty[], crowded = false): Buffer {
  const fixed = [u16(3), u16(0x0e20), u32(7)];
  const name = Buffer.from("own\0", "utf16le");
  const named = [
    u16(0x1e),
    u16(0x8001),
    Buffer.alloc(16),
    u32(1),
    u32(name.length),
    name,
    u32(1),
    u32(3),
    padded("ab\0"),
  ];
  const variable = properties.flatMap(([type, id, value]) => [
    u16(type),
    u16(id),
    u32(1),
    u32(value.length),
    padded(value),
  ]);
  return Buffer.concat([u32(properties.length), ...(crowded ? [...fixed, ...named] : []), ...variable]);
}

function padded(value: Buffer | string): Buffer {
  const bytes = Buffer.from(value as string);
  return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
