import { Resolver } from "node:dns/promises";
import { defined } from "@nova/workflow/defined";
import type { DmarcPolicies } from "../ports/triggers.ts";
import { addressesIn, headerOf, type MailHeader } from "./headers.ts";

/** Maximum length of a header that can prove the sender. SES itself writes less than a thousand characters. */
const maxLetters = 10_000;

/**
 * Returns the sender domain that SES has proven (DMARC), from `Authentication-Results` (RFC 8601); undefined if none is
 * proven. Senders choose some of the words in this header (MAIL FROM, HELO, the `i=` of DKIM). Therefore text in quotes
 * and comments never counts as a result. A sender could also put SES's own result between quotes, and add a false
 * result. SES writes `dmarc=` once, so a header that contains `dmarc=` twice proves nothing. SES ends the header with a
 * semicolon, and puts semicolons between some properties. The parts between these semicolons look like results of
 * unknown methods, and are ignored.
 */
function provenDomainIn(header: string): string | undefined {
  if (header.length > maxLetters || (header.match(/dmarc\s*=/gi) ?? []).length !== 1) return undefined;
  const [server = [], ...results] = pairsIn(header) ?? [];
  // The first part names the server that checked the mail, perhaps with a version after the name.
  if (server[0]?.key !== "amazonses.com" || server.some(({ value }) => value !== undefined)) return undefined;
  const [dmarc, ...others] = results.filter(([first]) => first?.value && /^dmarc(\/\d+)?$/.test(first.key));
  const [result, ...properties] = dmarc ?? [];
  // A name that occurs twice among the properties makes the result ambiguous.
  const isClear = others.length === 0 && new Set(properties.map(({ key }) => key)).size === properties.length;
  if (!isClear || result?.value?.toLowerCase() !== "pass") return undefined;
  return properties.find(({ key }) => key === "header.from")?.value?.toLowerCase();
}

/**
 * `key=value`, or a single word. Quotes stay part of the text, so a quoted text never equals a key, result or domain
 * that counts.
 */
interface Pair {
  key: string;
  value?: string;
}

/**
 * Splits a header at its semicolons, and returns the pairs of each part. A comment counts as a space. Returns undefined
 * if a quote or a comment has no end.
 */
function pairsIn(header: string): Pair[][] | undefined {
  const segments: Pair[][] = [[]];
  let isApart = true;
  for (let at = 0; at < header.length; ) {
    const token = tokenAt(header, at);
    if (token === undefined) return undefined;
    at += token.length;
    const segment = segments.at(-1) as Pair[];
    const pair = segment.at(-1);
    if (token === ";") segments.push([]);
    else if (token === "=" && pair && pair.value === undefined) pair.value = "";
    else if (/^[\s(]/.test(token)) isApart = true;
    else if (pair?.value === "") pair.value = token;
    else if (!pair || isApart) segment.push({ key: token.toLowerCase() });
    else if (pair.value === undefined) pair.key += token.toLowerCase();
    else pair.value += token;
    if (!/^[\s(]/.test(token)) isApart = token === ";";
  }
  return segments;
}

const tokenPattern = /[;=]|\s+|"(?:[^"\\]|\\.)*"|[^\s;="()]+/y;

function tokenAt(header: string, at: number): string | undefined {
  if (header[at] === "(") return commentAt(header, at);
  tokenPattern.lastIndex = at;
  return tokenPattern.exec(header)?.[0];
}

/** Returns the comment at `start`, including the comments nested in it; undefined if the comment has no end. */
function commentAt(header: string, start: number): string | undefined {
  let depth = 0;
  for (let at = start; at < header.length; at++) {
    if (header[at] === "\\") at++;
    else if (header[at] === "(") depth++;
    else if (header[at] === ")" && --depth === 0) return header.slice(start, at + 1);
  }
  return undefined;
}

/** Headers that SES puts on top of a mail, each at most once, in this order. */
const sesHeaderOrder = [
  "return-path",
  "received",
  "x-ses-spam-verdict",
  "x-ses-virus-verdict",
  "received-spf",
  "authentication-results",
  "x-ses-receipt",
  "x-ses-dkim-signature",
];

/**
 * Returns the headers that SES added on top. Headers below them come from the sender, also if they have the name of a
 * header of SES.
 */
export function sesHeaders(headers: readonly MailHeader[]): MailHeader[] {
  let at = -1;
  const end = headers.findIndex(({ name }) => {
    const next = sesHeaderOrder.indexOf(name);
    if (next <= at) return true;
    at = next;
    return false;
  });
  return [...(end === -1 ? headers : headers.slice(0, end))];
}

export interface Verdicts {
  spam?: string;
  virus?: string;
  /** The sender domain that SES has proven (DMARC). */
  provenDomain?: string;
}

export function verdictsOf(ses: readonly MailHeader[]): Verdicts {
  const [spam, virus] = [headerOf(ses, "x-ses-spam-verdict"), headerOf(ses, "x-ses-virus-verdict")];
  const provenDomain = provenDomainIn(headerOf(ses, "authentication-results") ?? "");
  return defined({ spam: spam?.toUpperCase(), virus: virus?.toUpperCase(), provenDomain });
}

/** Returns the addresses for which SES received the mail. The headers To and Cc may name other addresses. */
export function receivedFor(ses: readonly MailHeader[]): string[] {
  const received = headerOf(ses, "received") ?? "";
  // Removes the date at the end, and keeps only what follows the last `for`: the sender chose the server name at the
  // start, which may contain a `for`, too.
  const [, ...lists] = received.slice(0, received.lastIndexOf(";")).split(/\sfor\s/i);
  return addressesIn(lists.at(-1)?.slice(0, 10_000) ?? "");
}

export type ReadTxt = (name: string) => Promise<string[][]>;

/**
 * The DNS servers belong to the sender's domain, so the time limit is short: a sender must not keep a function waiting.
 */
const readTxt: ReadTxt = (name) => new Resolver({ timeout: 1_000, tries: 2 }).resolveTxt(name);

/**
 * Maximum number of labels in the name of a parent domain for which the reader asks DNS, as in DMARCbis. The sender
 * chooses the domain, which may have any number of labels.
 */
const maxLabels = 7;

/**
 * Builds a reader of the policy that a domain publishes for mail that fails DMARC (RFC 7489, 6.6.3). If a name has no
 * record, the record of a parent domain counts. Public suffixes have no record. If DNS does not answer, the policy is
 * `reject`: a forged sender must not profit from an outage.
 */
export function dmarcPolicies(read: ReadTxt = readTxt): DmarcPolicies {
  return async (domain) => {
    try {
      return (await policyFrom(read, domain, false)) ?? "none";
    } catch {
      return "reject";
    }
  };
}

type Policy = Awaited<ReturnType<DmarcPolicies>>;

async function policyFrom(read: ReadTxt, domain: string, isAbove: boolean): Promise<Policy | undefined> {
  if (!domain.includes(".")) return undefined;
  const record = (await recordsOf(read, domain)).find((text) => /^v=DMARC1\b/i.test(text));
  if (record === undefined) return policyFrom(read, domain.split(".").slice(1).slice(-maxLabels).join("."), true);
  const tag = (name: string) =>
    new RegExp(`(?:^|;)\\s*${name}\\s*=\\s*(none|quarantine|reject)\\b`, "i").exec(record)?.[1];
  return ((isAbove ? tag("sp") : undefined) ?? tag("p") ?? "none").toLowerCase() as Policy;
}

async function recordsOf(read: ReadTxt, domain: string): Promise<string[]> {
  try {
    return (await read(`_dmarc.${domain}`)).map((parts) => parts.join(""));
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === "ENOTFOUND" || code === "ENODATA") return [];
    throw error;
  }
}
