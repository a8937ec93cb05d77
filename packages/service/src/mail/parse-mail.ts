import type { FileInPlace } from "@nova/engine";
import type { Address, Email } from "postal-mime";
import { fileOf } from "../triggers/start.ts";
import { type MailAttachment, readAttachments } from "./attachments.ts";
import { boundariesIn } from "./guard.ts";
import { longestHeadBytes } from "./headers.ts";

/** A parsed mail, with the names that its fields have in the context of a run. */
export interface ParsedMail {
  subject: string;
  from: string;
  from_name: string;
  to: string[];
  cc: string[];
  /** Addresses that the sender wants answers sent to. */
  reply_to: string[];
  /** The Message-ID of the mail to which this mail is an answer. */
  in_reply_to: string | null;
  /** RFC 3834: `auto-replied` for an out-of-office note, `auto-generated` for a program's mail. */
  auto_submitted: string | null;
  /** The date of the mail in ISO 8601; null if it is missing or invalid. */
  date: string | null;
  text: string;
  html: string | null;
  /** Decoded values by lower-case name. Values of a repeated header are joined with line breaks, top to bottom. */
  headers: Record<string, string>;
  attachments: MailAttachment[];
}

/** Limit for parts inside parts. No mail program nests deeper. */
const maxNestingDepth = 50;
const maxAddresses = 1_000;

/**
 * Parses a mail, with the files of attached mails and of `winmail.dat`. Throws an `Error` with the reason if the mail
 * is unreadable.
 */
export async function parseMail(raw: Uint8Array): Promise<ParsedMail> {
  const { decodeWords } = await import("postal-mime");
  const mail = await readMail(raw);
  const headers = headersOf(mail, (value) => wellFormed(decodeWords(value)));
  return {
    subject: wellFormed(mail.subject),
    from: mail.from?.address?.toLowerCase() ?? "",
    from_name: wellFormed(mail.from?.name),
    to: addressesOf(mail.to),
    cc: addressesOf(mail.cc),
    reply_to: addressesOf(mail.replyTo),
    in_reply_to: headers["in-reply-to"] ?? null,
    auto_submitted: headers["auto-submitted"] ?? null,
    date: dateOf(mail),
    text: wellFormed(mail.text),
    html: mail.html === undefined ? null : wellFormed(mail.html),
    headers,
    attachments: await readAttachments(mail.attachments, readMail),
  };
}

async function readMail(raw: Uint8Array): Promise<Email> {
  const { default: PostalMime } = await import("postal-mime");
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  const boundaries = boundariesIn(bytes);
  const joined = joinWordsInHeads(bytes, (line) => boundaries.has(line));
  const limits = { maxNestingDepth, maxHeadersSize: longestHeadBytes };
  return PostalMime.parse(joined, { ...limits, forceRfc822Attachments: true });
}

/**
 * Returns only headers whose names consist of letters, digits, `-` and `_`. A name that starts with `$` would mark a
 * reference in the context.
 */
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

/**
 * Returns the date in ISO 8601; null if it is missing or invalid. The mail parser returns an invalid date unchanged.
 */
function dateOf({ date }: Email): string | null {
  const time = Date.parse(date ?? "");
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

/**
 * Replaces each half of a surrogate pair that has no other half. An encoded word may produce such a half, and no store
 * accepts it.
 */
function wellFormed(text = ""): string {
  return text.toWellFormed();
}

/**
 * Returns the initial context of a mail's run: `email`, and its flat aliases. The bytes of attachments are in `files`.
 */
export function mailContext(mail: ParsedMail, messageId: string): { context: string; files: FileInPlace[] } {
  const files: FileInPlace[] = [];
  const attachments = mail.attachments.map(({ bytes, ...attachment }) => {
    const file = fileOf(bytes);
    files.push(file);
    return { ...attachment, bytes: file.mark };
  });
  const { headers, attachments: _, ...parts } = mail;
  const context = {
    email: { ...parts, message_id: messageId, headers, attachments },
    email_from: mail.from,
    email_subject: mail.subject,
    email_body: mail.text !== "" ? mail.text : (mail.html ?? ""),
    email_attachments: attachments,
  };
  return { context: JSON.stringify(context), files };
}

/**
 * The pattern of one encoded word (RFC 2047). Each part of the pattern can match in only one way, so matching is fast.
 */
const one = String.raw`=\?[\w.:-]{1,40}(?:\*[\w-]{1,40})?\?(?:b\?[a-z0-9+/=]*|q\?[!->@-~]*)\?=`;
const words = new RegExp(`${one}(?:\\s*${one})+`, "gi");
/**
 * Matches an encoded word, and captures its charset, encoding and text. It skips the language of the word (RFC 2231),
 * which does not affect the letters.
 */
const word = /=\?([\w.:-]+)(?:\*[\w-]+)?\?([bq])\?([^?\s]*)\?=/gi;
const severalWords = /\?=\s*=\?/;

/**
 * Joins consecutive encoded words into one. Some mail programs split a character between two words, which RFC 2047
 * forbids: `=?UTF-8?B?TcM=?= =?UTF-8?Q?=A4rz?=` is "März".
 */
function joinSplitWords(text: string): string {
  return text.replaceAll(words, (run) => {
    const decoded = textOfWords(run);
    return decoded === undefined ? run : `=?UTF-8?B?${Buffer.from(decoded).toString("base64")}?=`;
  });
}

/**
 * A decoder of this charset has states. Each encoded word starts in the initial state, so the decoder must not keep the
 * state of the previous word.
 */
const withStates = "iso-2022-jp";

/**
 * Returns the text of consecutive encoded words; undefined for a charset that `TextDecoder` does not know. The mail
 * parser may still know it.
 */
function textOfWords(run: string): string | undefined {
  let text = "";
  let decoder = new TextDecoder();
  for (const [, label = "", encoding = "", content = ""] of run.matchAll(word)) {
    const charset = charsetNamed(label);
    if (charset === undefined) return undefined;
    if (charset !== decoder.encoding) {
      text += decoder.decode();
      decoder = new TextDecoder(charset);
    }
    text += decoder.decode(bytesOfWord(encoding, content), { stream: charset !== withStates });
  }
  return text + decoder.decode();
}

/** Returns the canonical name of a charset: `utf8` and `UTF-8` are the same. */
function charsetNamed(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

function bytesOfWord(encoding: string, content: string): Buffer {
  if (encoding.toLowerCase() === "b") return Buffer.from(content, "base64");
  const spaced = content.replaceAll("_", " ");
  return Buffer.from(
    spaced.replace(/=([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1",
  );
}

/** Joins consecutive encoded words in the headers of a mail and of its parts. Bodies are not changed. */
export function joinWordsInHeads(raw: Buffer, isBoundary: (line: string) => boolean): Buffer {
  const text = raw.toString("latin1");
  if (!severalWords.test(text)) return raw;
  let joined = "";
  for (let start = 0; start < text.length; ) {
    const blank = /\r?\n\r?\n/g;
    // A part without headers has its blank line directly after the boundary line.
    blank.lastIndex = Math.max(0, start - 1);
    const end = Math.max(start, blank.exec(text)?.index ?? text.length);
    joined += joinSplitWords(text.slice(start, end));
    const next = nextHead(text, end, isBoundary);
    joined += text.slice(end, next);
    start = next;
  }
  return Buffer.from(joined, "latin1");
}

/** Returns the start of the next part's headers, after its boundary line. */
function nextHead(text: string, from: number, isBoundary: (line: string) => boolean): number {
  for (let at = text.indexOf("\n--", from); at !== -1; at = text.indexOf("\n--", at + 1)) {
    const end = text.indexOf("\n", at + 1);
    if (end === -1) return text.length;
    if (isBoundary(text.slice(at + 3, Math.min(end, at + 203)).trimEnd())) return end + 1;
  }
  return text.length;
}
