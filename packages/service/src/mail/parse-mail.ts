import type { FileInPlace } from "@nova/engine";
import type { Address, Email } from "postal-mime";
import { fileOf } from "../triggers/start.ts";
import { type MailAttachment, readAttachments } from "./attachments.ts";
import { joinWordsInHeads } from "./encoded-words.ts";
import { boundariesIn } from "./guard.ts";
import { longestHeadBytes } from "./headers.ts";

export interface ParsedMail {
  subject: string;
  /** Address in lower case; empty if there is none. */
  from: string;
  fromName: string;
  to: string[];
  cc: string[];
  /** Addresses that the sender wants answers sent to. */
  replyTo: string[];
  /** The Message-ID of the mail that this one answers. */
  inReplyTo: string | null;
  /** RFC 3834: `auto-replied` for an out-of-office note, `auto-generated` for a program's mail. */
  autoSubmitted: string | null;
  /** ISO 8601; null if it is missing or invalid. */
  date: string | null;
  text: string;
  html: string | null;
  /** Decoded values by lower-case name. Values of a repeated header are joined with line breaks, top to bottom. */
  headers: Record<string, string>;
  attachments: MailAttachment[];
}

/** Deeper than any mail program nests. */
const maxNestingDepth = 50;
const maxAddresses = 1_000;

/** Parses a mail, with the files of attached mails and of `winmail.dat`. Throws an `Error` with the reason if it is unreadable. */
export async function parseMail(raw: Uint8Array): Promise<ParsedMail> {
  const { decodeWords } = await import("postal-mime");
  const mail = await readMail(raw);
  const headers = headersOf(mail, (value) => wellFormed(decodeWords(value)));
  return {
    subject: wellFormed(mail.subject),
    from: mail.from?.address?.toLowerCase() ?? "",
    fromName: wellFormed(mail.from?.name),
    to: addressesOf(mail.to),
    cc: addressesOf(mail.cc),
    replyTo: addressesOf(mail.replyTo),
    inReplyTo: headers["in-reply-to"] ?? null,
    autoSubmitted: headers["auto-submitted"] ?? null,
    date: dateOf(mail),
    text: wellFormed(mail.text),
    html: mail.html === undefined ? null : wellFormed(mail.html),
    headers,
    attachments: await readAttachments(mail.attachments, readMail),
  };
}

/** Parses a mail and keeps attached mails as attachments. */
async function readMail(raw: Uint8Array): Promise<Email> {
  const { default: PostalMime } = await import("postal-mime");
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const boundaries = boundariesIn(bytes);
  const joined = joinWordsInHeads(bytes, (line) => boundaries.has(line));
  const limits = { maxNestingDepth, maxHeadersSize: longestHeadBytes };
  return PostalMime.parse(joined, { ...limits, forceRfc822Attachments: true });
}

/** Omits names with other letters: in a context, a name that starts with `$` marks a reference. */
function headersOf(mail: Email, decode: (value: string) => string): Record<string, string> {
  const found = new Map<string, string>();
  for (const { key, value } of mail.headers.filter(({ key }) => /^[a-z0-9_-]+$/.test(key))) {
    const above = found.get(key);
    found.set(key, above === undefined ? decode(value) : `${above}\n${decode(value)}`);
  }
  return Object.fromEntries(found);
}

function addressesOf(addresses: Address[] = []): string[] {
  const all = addresses.flatMap((one) => one.group ?? [one]);
  return all.slice(0, maxAddresses).flatMap(({ address }) => address?.toLowerCase() || []);
}

/** The parser returns an invalid date as it was written. */
function dateOf({ date }: Email): string | null {
  const time = Date.parse(date ?? "");
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

/** Replaces half surrogate pairs, which an encoded word may produce and no store accepts. */
function wellFormed(text = ""): string {
  return text.toWellFormed();
}

/** The initial context of a mail's run: `email`, and its flat aliases. The bytes of attachments are in `files`. */
export function mailContext(mail: ParsedMail, messageId: string): { context: string; files: FileInPlace[] } {
  const { subject, from, fromName, to, cc, replyTo, inReplyTo, autoSubmitted, date, text, html, headers } = mail;
  const files: FileInPlace[] = [];
  const attachments = mail.attachments.map(({ bytes, ...attachment }) => {
    const file = fileOf(bytes);
    files.push(file);
    return { ...attachment, bytes: file.mark };
  });
  const context = {
    email: {
      subject,
      from,
      from_name: fromName,
      to,
      cc,
      reply_to: replyTo,
      in_reply_to: inReplyTo,
      auto_submitted: autoSubmitted,
      date,
      text,
      html,
      message_id: messageId,
      headers,
      attachments,
    },
    email_from: from,
    email_subject: subject,
    email_body: text !== "" ? text : (html ?? ""),
    email_attachments: attachments,
  };
  return { context: JSON.stringify(context), files };
}
