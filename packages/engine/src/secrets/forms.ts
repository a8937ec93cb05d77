import { wholly } from "./unescape.ts";

/** The length of the shortest secret that is searched. Shorter secrets would match ordinary data everywhere. */
export const shortestSecret = 4;

export type Secret = string | { number: string } | { bytes: Uint8Array };

/** All forms of a secret that `Finder` searches. Each field has the forms that `Finder` searches in the same way. */
export interface Forms {
  texts: string[];
  /** Spellings of a number. They match only where no digit or letter is next to them. */
  numbers: string[];
  /** Base64 forms. They also match if line ends split them. */
  base64: string[];
  /** Forms of binary secrets, to search in bytes, one character per byte. */
  raw: string[];
  /** Forms to search in the text after its escapes are decoded, one character per byte. */
  unescaped: string[];
}

/**
 * The length of the longest secret for which NOVA also searches the forms that were escaped twice. Such forms of longer
 * secrets would fill the memory.
 */
const longestTwice = 8 * 1024;

export function formsOf(secret: Secret): Forms {
  if (typeof secret === "string") return formsOfText(secret);
  if ("bytes" in secret) return formsOfBytes(secret.bytes);
  // `formsOfText` has the number in the client's own spelling, which also matches inside other digits. `numbers` has
  // the other spellings.
  return { ...formsOfText(secret.number), numbers: spellings(secret.number) };
}

function formsOfText(secret: string): Forms {
  if (secret.length < shortestSecret) return nothing;
  const bytes = Buffer.from(secret);
  const latin = /[^\p{ASCII}]/u.test(secret) && !/[^\p{ASCII}\xa0-\xff]/u.test(secret) ? [secret] : [];
  return {
    ...nothing,
    texts: [...escapedOften(secret), ...hexForms(bytes)],
    ...base64(bytes),
    unescaped: unescapedForms([bytes.toString("latin1"), ...latin]),
  };
}

function formsOfBytes(content: Uint8Array): Forms {
  if (content.length < shortestSecret) return nothing;
  const bytes = Buffer.from(content);
  const text = bytes.toString();
  if (Buffer.from(text).equals(bytes)) return formsOfText(text);
  const raw = bytes.toString("latin1");
  const texts = [...escapedOften(raw), ...hexForms(bytes)];
  return { ...nothing, texts, ...base64(bytes), raw: [raw], unescaped: unescapedForms([raw]) };
}

const nothing: Forms = { texts: [], numbers: [], base64: [], raw: [], unescaped: [] };

/**
 * Returns the forms of a secret that was escaped several times: `repr(json.dumps(x))` escapes twice, and JSON escapes
 * the result again.
 */
function escapedOften(secret: string): string[] {
  const once = [secret, ...escapedOnce(secret)];
  if (secret.length > longestTwice) return [...once, ...once.flatMap(jsonForms)];
  const twice = distinct([...once, ...once.flatMap(escapedOnce)]);
  return [...twice, ...twice.flatMap(jsonForms)];
}

function escapedOnce(text: string): string[] {
  return distinct([...jsonForms(text), ...reprForms(text)]);
}

function distinct(texts: string[]): string[] {
  return Array.from(new Set(texts));
}

/**
 * Matches characters that Python's `repr` escapes: the backslash, and all characters for which `str.isprintable` is
 * false.
 */
const unprintable = /(?! )[\p{C}\p{Z}\\]/gu;
const beyondAscii = /[^ -~]|\\/gu;

/** Returns the text and its bytes as Python's `repr` and `ascii` write them, as in the message of a `KeyError`. */
function reprForms(secret: string): string[] {
  const bytes = Buffer.from(secret).toString("latin1");
  const forms = [escaped(secret, unprintable), escaped(secret, beyondAscii), escaped(bytes, beyondAscii)];
  return forms.flatMap((form) => [form, form.replaceAll("'", "\\'")]);
}

const namedEscapes: Record<string, string> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function escaped(text: string, what: RegExp): string {
  return text.replace(what, (c) => namedEscapes[c] ?? numberedEscape(c.codePointAt(0) as number));
}

function numberedEscape(point: number): string {
  const hex = point.toString(16);
  if (point <= 0xff) return `\\x${hex.padStart(2, "0")}`;
  return point <= 0xffff ? `\\u${hex.padStart(4, "0")}` : `\\U${hex.padStart(8, "0")}`;
}

/**
 * Returns the forms to search in decoded text. Decoding a text also decodes escapes that belong to the secret itself.
 * So this function adds the decoded form of such a secret.
 */
function unescapedForms(forms: readonly string[]): string[] {
  return distinct([...forms, ...forms.map(wholly)]).filter(({ length }) => length >= shortestSecret);
}

function hexForms(bytes: Buffer): string[] {
  const hex = bytes.toString("hex");
  return [hex, hex.toUpperCase()];
}

/** Returns the forms of a text inside a JSON string. Python's `json.dumps` also escapes characters beyond ASCII. */
function jsonForms(text: string): string[] {
  return [JSON.stringify(text).slice(1, -1), asciiJson(text)];
}

/** Returns the text as Python's `json.dumps` writes it, which escapes DEL and characters beyond ASCII. */
function asciiJson(secret: string): string {
  return JSON.stringify(secret)
    .slice(1, -1)
    .replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function base64(bytes: Buffer): Pick<Forms, "base64"> {
  return { base64: [0, 1, 2].flatMap((offset) => base64Core(bytes, offset)) };
}

/** Returns the part of a base64 text that depends only on the secret if `offset` bytes come before the secret. */
function base64Core(bytes: Buffer, offset: number): string[] {
  const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
  const from = Math.ceil((offset * 8) / 6);
  const to = Math.floor((padded.length * 8) / 6);
  return [padded.toString("base64").slice(from, to), padded.toString("base64url").slice(from, to)];
}

/**
 * The smallest and the largest number of digits of a number for which NOVA searches other spellings. Other spellings of
 * shorter numbers would match ordinary data. Longer numbers match only as the client wrote them.
 */
const [fewestDigits, maxDigits] = [4, 40];

/** Returns the usual spellings of a JSON number, without rounding the number. */
function spellings(raw: string): string[] {
  const number = parsed(raw);
  if (!number) return [];
  const { whole, fraction } = number;
  if (`${whole}${fraction}`.replace(/^0+/, "").length < fewestDigits) return [];
  const decimals = fraction === "" ? ["", "0", "00"] : [fraction, `${fraction}0`];
  const plain = decimals.flatMap((part) => withDecimals(whole, part));
  return distinct([...plain, ...exponents(number), ...(fraction === "" ? bases(BigInt(whole)) : [])]);
}

/** The digits of a number. The sign is left out, because it comes before the digits in every spelling. */
interface Digits {
  /** The digits before the decimal point, without leading zeros. "0" if there are no such digits. */
  whole: string;
  /** The digits after the decimal point, without trailing zeros. */
  fraction: string;
}

function parsed(raw: string): Digits | undefined {
  const [, before = "", after = "", exponent = "0"] = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(raw) ?? [];
  const shift = Number(exponent);
  if (before === "" || Math.abs(shift) > maxDigits || before.length + after.length > maxDigits) return undefined;
  const padded = `${"0".repeat(maxDigits)}${before}${after}${"0".repeat(maxDigits)}`;
  const point = maxDigits + before.length + shift;
  return { whole: padded.slice(0, point).replace(/^0+(?=\d)/, ""), fraction: padded.slice(point).replace(/0+$/, "") };
}

/** The usual pairs of separators: the character between thousands, and the character before the decimals. */
const ways: [thousands: string, point: string][] = [
  ...[",", "_", " ", "\u00a0", "\u202f", "\u2009", "'", "\u2019"].map((mark): [string, string] => [mark, "."]),
  ...[".", " ", "\u00a0", "\u202f", "'"].map((mark): [string, string] => [mark, ","]),
];

function withDecimals(whole: string, decimals: string): string[] {
  const grouped = (mark: string) => whole.replace(/\B(?=(\d{3})+$)/g, mark);
  if (decimals === "") return [whole, ...ways.map(([mark]) => grouped(mark))];
  return [".", ","]
    .map((point) => `${whole}${point}${decimals}`)
    .concat(ways.map(([mark, point]) => `${grouped(mark)}${point}${decimals}`));
}

/** Returns the number with an exponent, as `repr`, `%e` and `%g` in Python and JavaScript write it. */
function exponents({ whole, fraction }: Digits): string[] {
  const digits = `${whole}${fraction}`.replace(/^0+/, "");
  if (digits === "") return [];
  const size = whole === "0" ? -(/^0*/.exec(fraction)?.[0].length ?? 0) - 1 : whole.length - 1;
  const significant = digits.replace(/0+$/, "");
  const [first = "", rest = ""] = [significant.slice(0, 1), significant.slice(1)];
  const mantissas = [
    rest === "" ? first : `${first}.${rest}`,
    `${first}.${rest.padEnd(6, "0")}`,
    `${first}.${rest || "0"}`,
    `${first}.${digits.slice(1)}`,
  ];
  const sign = size < 0 ? "-" : "+";
  const powers = [String(size), `${sign}${Math.abs(size)}`, `${sign}${String(Math.abs(size)).padStart(2, "0")}`];
  return mantissas.flatMap((mantissa) => powers.flatMap((power) => [`${mantissa}e${power}`, `${mantissa}E${power}`]));
}

function bases(value: bigint): string[] {
  const hex = value.toString(16);
  const upper = hex.toUpperCase();
  return [`0x${hex}`, `0X${upper}`, `0x${upper}`, `0o${value.toString(8)}`, `0b${value.toString(2)}`];
}
