/** What a secret leaves behind where it was masked. */
export const mask = "***";

/** A secret shorter than this would match honest data everywhere; it is not looked for. */
const shortestSecret = 4;

/** Bytes are not to be stored. */
export class SecretFound extends Error {
  override name = "SecretFound";
}

/**
 * The one boundary that knows secret values: masks them in text that people read, and finds them in data that is kept,
 * which is JSON: each form is looked for as it is, and as a JSON text has it. It knows a value plain, JSON-escaped, as
 * Python's `repr` and `ascii` write it, URL-encoded, in hex, and in base64 (both alphabets) at each of the three byte
 * offsets. That is the guarantee and its limit: what code compresses or encrypts itself is not found.
 */
export class Redactor {
  readonly #needles: string[];

  constructor(secrets: Iterable<string>) {
    const needles = new Set<string>();
    for (const secret of secrets) {
      if (secret.length < shortestSecret) continue;
      for (const form of formsOf(secret)) for (const needle of [form, ...jsonForms(form)]) needles.add(needle);
    }
    this.#needles = Array.from(needles).sort((a, b) => b.length - a.length);
  }

  get isIdle(): boolean {
    return this.#needles.length === 0;
  }

  mask(text: string): string {
    return this.#needles.reduce((masked, needle) => masked.replaceAll(needle, mask), text);
  }

  /** As `mask`, for text whose beginning was cut off, maybe in the middle of a secret. */
  maskTail(text: string): string {
    const rests = this.#needles.map((needle) => restAtStart(needle, text));
    const longest = Math.max(0, ...rests);
    return this.mask(longest > 0 ? mask + text.slice(longest) : text);
  }

  finds(text: string): boolean {
    return this.#needles.some((needle) => text.includes(needle));
  }

  /**
   * Passes bytes through until a secret would cross, also over the border of two chunks: then it calls `onFound` and
   * throws `SecretFound`, so that whoever takes the bytes has never seen their end.
   */
  async *refuse(body: AsyncIterable<Uint8Array>, onFound: () => void): AsyncIterable<Uint8Array> {
    const longest = this.#needles[0]?.length ?? 0;
    let tail = "";
    for await (const chunk of body) {
      const text = tail + Buffer.from(chunk).toString("latin1");
      if (this.#needles.some((needle) => text.includes(Buffer.from(needle).toString("latin1")))) {
        onFound();
        throw new SecretFound("a secret is in what was to be stored - keep it out of what the node sets");
      }
      tail = text.slice(-longest * 4);
      yield chunk;
    }
  }
}

/** Where nobody can say what is secret, everything may be: nothing is kept, and people see the mask alone. */
export class BlindRedactor extends Redactor {
  constructor() {
    super([]);
  }

  override get isIdle(): boolean {
    return false;
  }

  override mask(text: string): string {
    return text === "" ? "" : mask;
  }

  override maskTail(text: string): string {
    return this.mask(text);
  }

  override finds(): boolean {
    return true;
  }

  // biome-ignore lint/correctness/useYield: whoever takes the bytes gets none
  override async *refuse(_body: AsyncIterable<Uint8Array>, onFound: () => void): AsyncIterable<Uint8Array> {
    onFound();
    throw new SecretFound("nobody can say what is secret here - nothing is stored");
  }
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const hex = bytes.toString("hex");
  return [
    secret,
    ...jsonForms(secret),
    ...reprForms(secret),
    ...urlForms(secret),
    hex,
    hex.toUpperCase(),
    ...[0, 1, 2].flatMap((offset) => base64Core(bytes, offset)),
  ];
}

/** What `str.isprintable` of Python is false for, and the backslash. */
const unprintable = /(?! )[\p{C}\p{Z}\\]/gu;
const beyondAscii = /[^ -~]|\\/gu;

/** As Python's `repr` and `ascii` write a text, and its bytes: errors such as `KeyError` show nothing else. */
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
 * As browsers, Python's `quote` and forms (`quote_plus`, `requests`) write it; they differ in what they leave as it is.
 * Half a surrogate no URL can have.
 */
function urlForms(secret: string): string[] {
  const browser = encodeURIComponent(secret.toWellFormed());
  const python = browser.replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  return [browser, python, python.replaceAll("%2F", "/"), python.replaceAll("%20", "+")];
}

/** How much of the text's beginning is the end of the needle. */
function restAtStart(needle: string, text: string): number {
  for (let cut = 1; needle.length - cut >= shortestSecret; cut++) {
    if (text.startsWith(needle.slice(cut))) return needle.length - cut;
  }
  return 0;
}

/** Inside a JSON text; Python's `json.dumps` escapes what is beyond ASCII. */
function jsonForms(text: string): string[] {
  return [JSON.stringify(text).slice(1, -1), asciiJson(text)];
}

/** As Python's `json.dumps` writes it: everything beyond ASCII escaped, and DEL. */
function asciiJson(secret: string): string {
  return JSON.stringify(secret)
    .slice(1, -1)
    .replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The characters of a base64 text that depend on the secret alone, when `offset` bytes stand before it. */
function base64Core(bytes: Buffer, offset: number): string[] {
  const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
  const from = Math.ceil((offset * 8) / 6);
  const to = Math.floor((padded.length * 8) / 6);
  return [padded.toString("base64").slice(from, to), padded.toString("base64url").slice(from, to)];
}
