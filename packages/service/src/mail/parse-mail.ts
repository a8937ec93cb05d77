import type { FileInPlace } from "@nova/engine";
import type { Address, Attachment, Email } from "postal-mime";
import { fileOf } from "../triggers/start.ts";
import { longestHeadBytes } from "./headers.ts";

export interface MailAttachment {
  name: string;
  /** As the sender says: `application/pdf`. */
  type: string;
  bytes: Uint8Array;
}

export interface ParsedMail {
  subject: string;
  /** Address, in lower case; empty where there is none. */
  from: string;
  fromName: string;
  to: string[];
  cc: string[];
  /** ISO 8601; null where there is none, or none that could be read. */
  date: string | null;
  text: string;
  html: string | null;
  attachments: MailAttachment[];
}

/** Deeper than any mail program nests. */
const maxNestingDepth = 50;
const maxAttachments = 1_000;
const maxAddresses = 1_000;

/** A mail inside of it is an attachment, not looked into. Throws an `Error` with the reason where it cannot. */
export async function parseMail(raw: Uint8Array): Promise<ParsedMail> {
  const { default: PostalMime } = await import("postal-mime");
  const limits = { maxNestingDepth, maxHeadersSize: longestHeadBytes };
  const mail = await PostalMime.parse(raw, { ...limits, forceRfc822Attachments: true });
  if (mail.attachments.length > maxAttachments) {
    throw new RangeError(`it has ${mail.attachments.length} attachments, and a mail may have ${maxAttachments}`);
  }
  return {
    subject: wellFormed(mail.subject),
    from: mail.from?.address?.toLowerCase() ?? "",
    fromName: wellFormed(mail.from?.name),
    to: addressesOf(mail.to),
    cc: addressesOf(mail.cc),
    date: dateOf(mail),
    text: wellFormed(mail.text),
    html: mail.html === undefined ? null : wellFormed(mail.html),
    attachments: mail.attachments.map(attachmentOf),
  };
}

function addressesOf(addresses: Address[] = []): string[] {
  const all = addresses.flatMap((one) => one.group ?? [one]);
  return all.slice(0, maxAddresses).flatMap(({ address }) => address?.toLowerCase() || []);
}

/** What is no date is handed on as it was written by the parser. */
function dateOf({ date }: Email): string | null {
  const time = Date.parse(date ?? "");
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

function attachmentOf({ filename, mimeType, content }: Attachment, index: number): MailAttachment {
  // Only the last part of what may look like a path, for code that writes it to a file.
  const name = wellFormed(filename ?? "")
    .split(/[/\\]/)
    .at(-1)
    ?.replaceAll(/\p{Cc}/gu, "")
    .trim();
  const isNone = name === undefined || name === "" || name === "." || name === "..";
  const bytes = typeof content === "string" ? Buffer.from(content) : new Uint8Array(content);
  return { name: isNone ? `attachment-${index + 1}` : name, type: mimeType || "application/octet-stream", bytes };
}

/** Half a character, which an encoded word may hold, could not be stored. */
function wellFormed(text = ""): string {
  return text.toWellFormed();
}

/** What a run starts with for a mail: `email`, and the flat names of it. The bytes of attachments go beside the text. */
export function mailContext(mail: ParsedMail, messageId: string): { context: string; files: FileInPlace[] } {
  const { subject, from, fromName, to, cc, date, text, html } = mail;
  const files: FileInPlace[] = [];
  const attachments = mail.attachments.map(({ bytes, ...attachment }) => {
    const file = fileOf(bytes);
    files.push(file);
    return { ...attachment, bytes: file.mark };
  });
  const context = {
    email: { subject, from, from_name: fromName, to, cc, date, text, html, message_id: messageId, attachments },
    email_from: from,
    email_subject: subject,
    email_body: text !== "" ? text : (html ?? ""),
    email_attachments: attachments,
  };
  return { context: JSON.stringify(context), files };
}
