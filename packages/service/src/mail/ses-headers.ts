import { defined } from "@nova/workflow/defined";
import { addressesIn, headerOf, type MailHeader } from "./headers.ts";

/** One result of a header `Authentication-Results`: `dmarc=pass header.from=a.example`. */
export interface MethodResult {
  /** Lower case. */
  method: string;
  result: string;
  properties: ReadonlyMap<string, string>;
}

export interface AuthenticationResults {
  /** The server that has checked the mail (its authserv-id), in lower case. */
  server: string;
  results: MethodResult[];
}

/** SES writes less than a thousand letters. */
const maxLetters = 10_000;

/**
 * Reads the header as RFC 8601 writes it; undefined where it cannot be read. Senders choose some of its words (MAIL FROM,
 * HELO, the `i=` of DKIM), so what stands in quotes or comments never counts as a result. SES ends it with a semicolon
 * and separates some properties by one; those look like results of methods that nobody asks for.
 */
export function readAuthentication(header: string): AuthenticationResults | undefined {
  if (header.length > maxLetters) return undefined;
  const [[server, ...version] = [], ...others] = pairsIn(header) ?? [];
  if (!server || server.value !== undefined || version.some(({ value }) => value !== undefined)) return undefined;
  const results = others.flatMap(([first, ...rest]) => {
    if (first?.value === undefined) return [];
    const properties = new Map(rest.map(({ key, value = "" }) => [key, value]));
    // Of two properties with one name nobody knows which one the server meant.
    const result = properties.size < rest.length ? "" : first.value.toLowerCase();
    return [{ method: first.key.replace(/\/\d+$/, ""), result, properties }];
  });
  return { server: server.key, results };
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

/**
 * The headers at the top that SES has added. Whatever stands below, a second one of a name among it, was there before,
 * and says what the sender wants it to say.
 */
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

/**
 * Senders choose words on either side of SES's own result, so quotes that they open before and close behind it could hide
 * it. SES writes `dmarc=` once: where it stands twice, one of them is a sender's, and nothing is proven.
 */
function provenDomainIn(header: string): string | undefined {
  if ((header.match(/dmarc\s*=/gi) ?? []).length !== 1) return undefined;
  const read = readAuthentication(header);
  if (read?.server !== "amazonses.com") return undefined;
  const [dmarc, ...others] = read.results.filter(({ method }) => method === "dmarc");
  if (dmarc?.result !== "pass" || others.length > 0) return undefined;
  return dmarc.properties.get("header.from")?.toLowerCase();
}

/** The addresses that the mail was for when it came in: To and Cc may name others, or nobody. */
export function receivedFor(ses: readonly MailHeader[]): string[] {
  const received = headerOf(ses, "received") ?? "";
  // The date is the last part. Before `by` stands what the sender calls itself, which may hold a `for` of its own.
  const [, ...lists] = received.slice(0, received.lastIndexOf(";")).split(/\sfor\s/i);
  return addressesIn(lists.at(-1)?.slice(0, 10_000) ?? "");
}
