/**
 * A text after its escapes were decoded, as bytes with one character for each byte. It maps each byte to the offsets of
 * that byte in the original text.
 */
export interface Unescaped {
  bytes: string;
  /** Returns the offset in the original text where byte `at`, or the escape for it, starts. */
  start(at: number): number;
  /** Returns the offset in the original text where byte `at`, or the escape for it, ends. */
  end(at: number): number;
}

/** The largest number of times that NOVA decodes a text. Programs escape a text three times, but rarely more often. */
const maxRounds = 4;
/**
 * The length of the longest escape of one byte, such as `&#x0000000026;`, that NOVA finds even if a stream delivers the
 * escape in two chunks.
 */
export const longestEscape = 16;

const escapes = [
  "(?:%|\\\\)u(?<high>d[89ab][0-9a-f]{2})(?:%|\\\\)u(?<low>d[c-f][0-9a-f]{2})",
  "(?:%|\\\\)u(?<unit>[0-9a-f]{4})",
  "%(?<percent>[0-9a-f]{2})",
  "&#0{0,20}(?<decimal>[0-9]{1,7})(?:;|(?=[^0-9]))",
  "&#x0{0,20}(?<hex>[0-9a-f]{1,6})(?:;|(?=[^0-9a-f]))",
  "&(?<name>[a-z][a-z0-9]{1,9});",
  "&(?<open>amp|lt|gt|quot)(?=[^a-z0-9])",
  "\\\\u\\{(?<braced>[0-9a-f]{1,6})\\}",
  "\\\\x(?<byte>[0-9a-f]{2})",
  "\\\\(?<sign>[\\\\\"'/nrt])",
].join("|");
const inBytes = new RegExp(escapes, "gi");
const inText = new RegExp(`${escapes}|(?<character>[\\u{80}-\\u{10ffff}])`, "giu");

/**
 * Matches escapes that NOVA must decode before a search. The searched forms cover other escapes, such as the escape of
 * a quote in JSON.
 */
const telling = /%(?:[0-9a-f]{2}|u[0-9a-f]{4})|&(?:#|[a-z])|\\(?:u00|x)[2-7][0-9a-f]/i;

const signs: Record<string, string> = { n: "\n", r: "\r", t: "\t" };

/** ASCII characters by their HTML 5 names, including the five names of XML. */
const asciiNames =
  "Tab 9 NewLine 10 excl 33 quot 34 num 35 dollar 36 percnt 37 amp 38 apos 39 lpar 40 rpar 41 ast 42 midast 42 plus 43 " +
  "comma 44 period 46 sol 47 colon 58 semi 59 lt 60 equals 61 gt 62 quest 63 commat 64 lsqb 91 lbrack 91 bsol 92 " +
  "rsqb 93 rbrack 93 Hat 94 lowbar 95 UnderBar 95 grave 96 lcub 123 lbrace 123 verbar 124 vert 124 rcub 125 rbrace 125 " +
  "AMP 38 LT 60 GT 62 QUOT 34 euro 8364 OElig 338 oelig 339 Scaron 352 scaron 353 Yuml 376 ndash 8211 mdash 8212";
/** Names of U+00A0 to U+00FF in order. */
const latinNames =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro " +
  "para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil " +
  "Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave " +
  "Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml " +
  "igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute " +
  "thorn yuml";
const points = new Map<string, number>([
  ...Array.from(asciiNames.matchAll(/(\w+) (\d+)/g), ([, name, point]): [string, number] => [
    name ?? "",
    Number(point),
  ]),
  ...latinNames.split(" ").map((name, index): [string, number] => [name, 0xa0 + index]),
]);

/** Returns whether a text has escapes that must be decoded before a search for secrets. */
export function isEscaped(text: string): boolean {
  return telling.test(text);
}

/**
 * Yields the text decoded once, then decoded twice and so on, until no escapes remain. `ofBytes` says that the text
 * consists of bytes.
 */
export function* unescaped(text: string, ofBytes: boolean): Iterable<Unescaped> {
  let last: Unescaped = { bytes: text, start: (at) => at, end: (at) => at + 1 };
  for (let round = 0; round < maxRounds; round++) {
    const next = decoded(last, round === 0 && !ofBytes ? inText : inBytes);
    if (next === last) return;
    yield next;
    last = next;
  }
}

/**
 * Decodes escapes until none remain. A secret and its match are then equal, even if they were escaped a different
 * number of times.
 */
export function wholly(bytes: string): string {
  let last = bytes;
  for (const next of unescaped(bytes, true)) last = next.bytes;
  return last;
}

function decoded(text: Unescaped, pattern: RegExp): Unescaped {
  const parts: string[] = [];
  /**
   * Lists of offsets with one element for each escape: its start and end in the decoded bytes, and its start and end in
   * the text.
   */
  const [froms, tos, starts, ends]: [number[], number[], number[], number[]] = [[], [], [], []];
  let [read, written] = [0, 0];
  for (const found of text.bytes.matchAll(pattern)) {
    const bytes = bytesOf(found.groups ?? {});
    if (bytes === undefined) continue;
    parts.push(text.bytes.slice(read, found.index), bytes);
    written += found.index - read;
    read = found.index + found[0].length;
    froms.push(written);
    written += bytes.length;
    tos.push(written);
    starts.push(found.index);
    ends.push(read);
  }
  if (froms.length === 0) return text;
  parts.push(text.bytes.slice(read));
  const place = (at: number, edges: number[], beyond: number) => {
    const index = lastUpTo(froms, at);
    if (index < 0) return at + beyond;
    const end = tos[index] as number;
    return at < end ? (edges[index] as number) : (ends[index] as number) + at - end + beyond;
  };
  return {
    bytes: parts.join(""),
    start: (at) => text.start(place(at, starts, 0)),
    end: (at) => text.end(place(at, ends, 1) - 1),
  };
}

function bytesOf(found: Record<string, string | undefined>): string | undefined {
  const { percent, byte, unit, braced, hex, decimal, high, low, name, open, sign, character } = found;
  const raw = percent ?? byte;
  if (raw !== undefined) return String.fromCharCode(Number.parseInt(raw, 16));
  if (sign !== undefined) return signs[sign] ?? sign;
  if (character !== undefined) return utf8(character);
  if (high !== undefined) return utf8(String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low ?? "", 16)));
  const point = name ?? open;
  if (point !== undefined) return points.has(point) ? utf8(String.fromCodePoint(points.get(point) ?? 0)) : undefined;
  const number = decimal === undefined ? Number.parseInt(unit ?? braced ?? hex ?? "", 16) : Number(decimal);
  // The number is one half of a surrogate pair whose other half is missing.
  if (number >= 0xd800 && number <= 0xdfff) return "";
  return number <= 0x10ffff ? utf8(String.fromCodePoint(number)) : undefined;
}

function utf8(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** Returns the index of the last number that is at most `at`; -1 if there is none. */
function lastUpTo(sorted: readonly number[], at: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] as number) <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
