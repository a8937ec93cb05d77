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
