import { defined } from "@nova/workflow/defined";
import { addressesIn, headerOf, type MailHeader } from "./headers.ts";

/** SES writes less than a thousand letters. */
const maxLetters = 10_000;

/**
 * Domain of the sender that SES found to be true (DMARC), of `Authentication-Results` as RFC 8601 writes it; undefined
 * where nothing is proven. Senders choose some of its words (MAIL FROM, HELO, the `i=` of DKIM), so what stands in quotes
 * or comments never counts, and quotes that they open before and close behind SES's own result could hide it: SES writes
 * `dmarc=` once, and where it stands twice, one of them is a sender's. SES ends the header with a semicolon and separates
 * some properties by one; those look like results of methods that nobody asks for.
 */
function provenDomainIn(header: string): string | undefined {
  if (header.length > maxLetters || (header.match(/dmarc\s*=/gi) ?? []).length !== 1) return undefined;
  const [server = [], ...results] = pairsIn(header) ?? [];
  // Behind the server that has checked the mail may stand a version.
  if (server[0]?.key !== "amazonses.com" || server.some(({ value }) => value !== undefined)) return undefined;
  const [dmarc, ...others] = results.filter(([first]) => first?.value && /^dmarc(\/\d+)?$/.test(first.key));
  const [result, ...properties] = dmarc ?? [];
  // Of two properties with one name nobody knows which one the server meant.
  const isClear = others.length === 0 && new Set(properties.map(({ key }) => key)).size === properties.length;
  if (!isClear || result?.value?.toLowerCase() !== "pass") return undefined;
  return properties.find(({ key }) => key === "header.from")?.value?.toLowerCase();
}

/** `key=value`, or a word alone. Quotes stay: no key, result or domain that is looked for has any. */
interface Pair {
  /** Lower case. */
  key: string;
  value?: string;
}

/** What stands between semicolons. Comments are spaces; undefined where a quote or a comment has no end. */
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

/** Comments may hold comments. */
function commentAt(header: string, start: number): string | undefined {
  let depth = 0;
  for (let at = start; at < header.length; at++) {
    if (header[at] === "\\") at++;
    else if (header[at] === "(") depth++;
    else if (header[at] === ")" && --depth === 0) return header.slice(start, at + 1);
  }
  return undefined;
}

/** What SES puts above a mail that it takes, each at most once, in the order in which it does. */
const added = [
  "return-path",
  "received",
  "x-ses-spam-verdict",
  "x-ses-virus-verdict",
  "received-spf",
  "authentication-results",
  "x-ses-receipt",
  "x-ses-dkim-signature",
];

/** The top headers, which SES has added: what stands below, a second one of a name too, is the sender's own. */
export function sesHeaders(headers: readonly MailHeader[]): MailHeader[] {
  let at = -1;
  const end = headers.findIndex(({ name }) => {
    const next = added.indexOf(name);
    if (next <= at) return true;
    at = next;
    return false;
  });
  return [...(end === -1 ? headers : headers.slice(0, end))];
}

export interface Verdicts {
  spam?: string;
  virus?: string;
  /** Domain of the sender that SES found to be true (DMARC). */
  provenDomain?: string;
}

export function verdictsOf(ses: readonly MailHeader[]): Verdicts {
  const [spam, virus] = [headerOf(ses, "x-ses-spam-verdict"), headerOf(ses, "x-ses-virus-verdict")];
  const provenDomain = provenDomainIn(headerOf(ses, "authentication-results") ?? "");
  return defined({ spam: spam?.toUpperCase(), virus: virus?.toUpperCase(), provenDomain });
}

/** The addresses that the mail was for when it came in: To and Cc may name others, or nobody. */
export function receivedFor(ses: readonly MailHeader[]): string[] {
  const received = headerOf(ses, "received") ?? "";
  // The date is the last part. Before `by` stands what the sender calls itself, which may hold a `for` of its own.
  const [, ...lists] = received.slice(0, received.lastIndexOf(";")).split(/\sfor\s/i);
  return addressesIn(lists.at(-1)?.slice(0, 10_000) ?? "");
}
