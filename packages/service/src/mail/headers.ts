import { createHash } from "node:crypto";

/** A line of a mail's head, unfolded. */
export interface MailHeader {
  /** Lower case. */
  name: string;
  value: string;
}

/** A head of more than this is no mail's: SES itself takes none of a tenth of it. */
export const longestHeadBytes = 512 * 1024;

/** Undefined where a mail's head has no end within the limit. Latin-1 will do: what is looked for is ASCII. */
export function headText(raw: Uint8Array): string | undefined {
  const start = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.length, longestHeadBytes)).toString("latin1");
  const end = /\r?\n\r?\n/.exec(start)?.index ?? (raw.length < longestHeadBytes ? start.length : undefined);
  return end === undefined ? undefined : start.slice(0, end);
}

/** The headers of a mail, from the top; undefined where its head has no end. */
export function readHeaders(raw: Uint8Array): MailHeader[] | undefined {
  const lines = headText(raw)
    ?.replaceAll(/\r?\n[ \t]+/g, " ")
    .split(/\r?\n/);
  return lines?.flatMap((line) => {
    const [, name, value] = /^([!-9;-~]+)[ \t]*:[ \t]*(.*)$/s.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [{ name: name.toLowerCase(), value: value.trim() }];
  });
}

/** The first of a name. */
export function headerOf(headers: readonly MailHeader[], name: string): string | undefined {
  return headers.find((header) => header.name === name)?.value;
}

/** Lower case; found in one pass, since a pattern would take minutes for half a megabyte of anything. */
export function addressesIn(value: string): string[] {
  return outsideQuotes(value)
    .split(/[\s<>,;:"()]+/)
    .filter((word) => /^[^@]{1,64}@[^@]{1,255}$/.test(word))
    .map((address) => address.toLowerCase());
}

/** Names in quotes may hold anything, an address among it. */
function outsideQuotes(value: string): string {
  return value
    .replaceAll(/\\./g, "")
    .split('"')
    .filter((_, at) => at % 2 === 0)
    .join(" ");
}

export const noSingleSender = "it does not name exactly one sender";

/** Longer ones are made to keep a pattern busy. */
const maxLetters = 2_000;
const atom = "[\\w!#$%&'*+/=?^`{|}~-]+";
const label = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?";
const addressPattern = new RegExp(`^${atom}(?:\\.${atom})*@${label}(?:\\.${label})*$`);

/**
 * The one sender that the head of a mail names, in lower case; empty where it names none, or several. SES and the code of
 * nodes must read the same address, so what could be read in two ways (two headers, lists, groups, names that are
 * addresses, quoted or encoded addresses) names nobody.
 */
export function senderOf(headers: readonly MailHeader[]): string {
  const [from, ...others] = headers.filter(({ name }) => name === "from");
  if (!from || others.length > 0 || from.value.length > maxLetters) return "";
  const text = from.value.replace(/"(?:[^"\\]|\\.)*"|\([^()\\]*\)/g, " ").trim();
  const [, name = "", inBrackets] = /^([^<>@,;:"()]*|[^<>,;:"()\s]+\s*)<\s*([^<>\s]+)\s*>$/.exec(text) ?? [];
  const address = (inBrackets ?? text).toLowerCase();
  // Many programs write the address as the name, too.
  const isOne = !name.includes("@") || name.trim().toLowerCase() === address;
  return isOne && addressPattern.test(address) && !address.includes("=?") ? address : "";
}

/** Why a sender may not write; undefined where they may. */
export function refusedSender(
  headers: readonly MailHeader[],
  allowed: readonly string[] | undefined,
): string | undefined {
  if (allowed === undefined) return undefined;
  const sender = senderOf(headers);
  if (sender === "") return noSingleSender;
  const domain = sender.slice(sender.lastIndexOf("@"));
  if (allowed.includes(sender) || allowed.includes(domain)) return undefined;
  return `${sender} is not in the trigger's list of senders`;
}

/** A mail as it came, with its head read. */
export interface RawMail {
  raw: Buffer;
  headers: readonly MailHeader[];
}

/** Headers that the author's program wrote. Servers on the way add others, and these differ from delivery to delivery. */
const authored = new Set(["from", "sender", "reply-to", "to", "cc", "subject", "date", "in-reply-to", "references"]);

/**
 * Record fields of a mail, and the text by which NOVA recognises it: its Message-ID, or without one the hash of what its
 * author wrote.
 */
export function letterhead({ raw, headers }: RawMail) {
  const messageId = headerOf(headers, "message-id") ?? "";
  // Some programs write `<>`, which would make all of their mails one mail.
  const dedupe = /[^<>\s]/.test(messageId) ? messageId : `sha256:${authoredHash({ raw, headers })}`;
  return { messageId, dedupe, from: senderOf(headers), about: headerOf(headers, "subject") ?? "" };
}

function authoredHash({ raw, headers }: RawMail): string {
  const hash = createHash("sha256");
  const lines = headers.filter(({ name }) => authored.has(name)).map(({ name, value }) => `${name}:${value}\n`);
  for (const line of lines.sort()) hash.update(line, "latin1");
  return hash.update("\n").update(authoredBody(raw), "latin1").digest("hex");
}

/** Servers on the way may change the ends of lines and of the mail. */
function authoredBody(raw: Buffer): string {
  return raw.toString("latin1", bodyStart(raw)).replaceAll("\r\n", "\n").trimEnd();
}

function bodyStart(raw: Buffer): number {
  const head = headText(raw) ?? "";
  return head.length + (/^\r?\n\r?\n/.exec(raw.toString("latin1", head.length, head.length + 4))?.[0].length ?? 0);
}
