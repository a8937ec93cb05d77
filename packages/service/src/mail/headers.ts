import { createHash } from "node:crypto";

/** A header of a mail, unfolded. */
export interface MailHeader {
  name: string;
  value: string;
}

/** Limit for all headers of a mail together, in bytes. SES accepts less than a tenth of this limit. */
export const longestHeadBytes = 512 * 1024;

/**
 * Returns the text of a mail's headers; undefined if they do not end within the limit. The function reads the headers
 * as latin-1, since header names are ASCII.
 */
export function headText(raw: Uint8Array): string | undefined {
  const start = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.length, longestHeadBytes)).toString("latin1");
  const end = /\r?\n\r?\n/.exec(start)?.index ?? (raw.length < longestHeadBytes ? start.length : undefined);
  return end === undefined ? undefined : start.slice(0, end);
}

/** Returns the headers of a mail, top to bottom; undefined if they do not end within the limit. */
export function readHeaders(raw: Uint8Array): MailHeader[] | undefined {
  const lines = headText(raw)
    ?.replaceAll(/\r?\n[ \t]+/g, " ")
    .split(/\r?\n/);
  return lines?.flatMap((line) => {
    const [, name, value] = /^([!-9;-~]+)[ \t]*:[ \t]*(.*)$/s.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [{ name: name.toLowerCase(), value: value.trim() }];
  });
}

export function headerOf(headers: readonly MailHeader[], name: string): string | undefined {
  return headers.find((header) => header.name === name)?.value;
}

/**
 * Returns the mail addresses in a header's value, in lower case. It splits the value first: a single regular expression
 * would need minutes for a hostile value of half a megabyte.
 */
export function addressesIn(value: string): string[] {
  return outsideQuotes(value)
    .split(/[\s<>,;:"()]+/)
    .filter((word) => /^[^@]{1,64}@[^@]{1,255}$/.test(word))
    .map((address) => address.toLowerCase());
}

/** Removes quoted names, which may contain addresses. */
function outsideQuotes(value: string): string {
  return value
    .replaceAll(/\\./g, "")
    .split('"')
    .filter((_, at) => at % 2 === 0)
    .join(" ");
}

export const noSingleSender = "it does not name exactly one sender";

/**
 * Maximum length of a `From` header. A mail with a longer header counts as a mail without a sender, since the pattern
 * below would take too long.
 */
const maxLetters = 2_000;
const atom = "[\\w!#$%&'*+/=?^`{|}~-]+";
const label = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?";
const addressPattern = new RegExp(`^${atom}(?:\\.${atom})*@${label}(?:\\.${label})*$`);

/**
 * Returns the single sender of a mail, in lower case; empty if there is no sender, or more than one. SES and the code
 * of nodes must read the same address. So everything ambiguous counts as no sender: two headers, lists, groups, names
 * that are addresses, and quoted or encoded addresses.
 */
export function senderOf(headers: readonly MailHeader[]): string {
  const [from, ...others] = headers.filter(({ name }) => name === "from");
  if (!from || others.length > 0 || from.value.length > maxLetters) return "";
  const text = from.value.replace(/"(?:[^"\\]|\\.)*"|\([^()\\]*\)/g, " ").trim();
  const [, name = "", inBrackets] = /^([^<>@,;:"()]*|[^<>,;:"()\s]+\s*)<\s*([^<>\s]+)\s*>$/.exec(text) ?? [];
  const address = (inBrackets ?? text).toLowerCase();
  // Many mail programs repeat the address as the name. If the name is another address, the mail counts as one without a
  // single sender.
  const isOne = !name.includes("@") || name.trim().toLowerCase() === address;
  return isOne && addressPattern.test(address) && !address.includes("=?") ? address : "";
}

/** Returns the reason why a sender is refused; undefined if the sender is allowed. */
export function senderProblem(headers: readonly MailHeader[], allowed: readonly string[] | undefined) {
  if (allowed === undefined) return undefined;
  const sender = senderOf(headers);
  if (sender === "") return noSingleSender;
  const domain = sender.slice(sender.lastIndexOf("@"));
  if (allowed.includes(sender) || allowed.includes(domain)) return undefined;
  return `${sender} is not in the trigger's list of senders`;
}

/** A raw mail with its parsed headers. */
export interface RawMail {
  raw: Buffer;
  headers: readonly MailHeader[];
}

/**
 * Headers that the author's program wrote. Mail servers that forward the mail add other headers, which differ between
 * deliveries.
 */
const authored = new Set(["from", "sender", "reply-to", "to", "cc", "subject", "date", "in-reply-to", "references"]);

/**
 * Returns the record fields of a mail. `dedupe` identifies the mail: it is the Message-ID, or, if the mail has none, a
 * hash of the author's headers and body.
 */
export function identifyMail({ raw, headers }: RawMail) {
  const messageId = headerOf(headers, "message-id") ?? "";
  // Some programs write an empty Message-ID, `<>`, which would give all of their mails the same id.
  const dedupe = /[^<>\s]/.test(messageId) ? messageId : `sha256:${authoredHash({ raw, headers })}`;
  return { messageId, dedupe, from: senderOf(headers), about: headerOf(headers, "subject") ?? "" };
}

function authoredHash({ raw, headers }: RawMail): string {
  const hash = createHash("sha256");
  const lines = headers.filter(({ name }) => authored.has(name)).map(({ name, value }) => `${name}:${value}\n`);
  for (const line of lines.sort()) hash.update(line, "latin1");
  return hash.update("\n").update(authoredBody(raw), "latin1").digest("hex");
}

/** Returns the body with normalised line ends, since mail servers that forward the mail may change them. */
function authoredBody(raw: Buffer): string {
  return raw.toString("latin1", bodyStart(raw)).replaceAll("\r\n", "\n").trimEnd();
}

function bodyStart(raw: Buffer): number {
  const head = headText(raw) ?? "";
  return head.length + (/^\r?\n\r?\n/.exec(raw.toString("latin1", head.length, head.length + 4))?.[0].length ?? 0);
}
