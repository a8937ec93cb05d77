import { isUtf8 } from "node:buffer";

/** The most levels of a value. The harness in the sandbox has the same limit. */
const maxLevels = 500;
/** A reference to a blob has two more levels than the byte string in its value. */
const levelsOfReference = 2;

/** The longest name or number, in bytes. */
const maxTokenBytes = 1024 * 1024;

/** The text is not exactly one JSON value. The message completes "it ...". */
export class NotStrictJson extends Error {
  override name = "NotStrictJson";
}

/**
 * Explains why a text is not exactly one JSON value (see `StrictJson`), to complete "it ..."; undefined for a valid
 * text.
 */
export function jsonProblem(text: string): string | undefined {
  if (simple.test(text)) return undefined;
  if (!text.isWellFormed()) return "has half a character";
  const check = new StrictJson();
  try {
    check.look(Buffer.from(text));
    check.end();
    return undefined;
  } catch (error) {
    if (error instanceof NotStrictJson) return error.message;
    throw error;
  }
}

/** Numbers, words and plain texts: most values. A node may set a hundred thousand of them. */
const simple = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?|true|false|null|"[ !#-[\]-~]*")$/;

/** The syntax that may follow. */
type Due = "value" | "first item" | "name" | "first name" | "colon" | "comma" | "nothing";

/**
 * Checks a stream of chunks: it must be exactly one JSON value in UTF-8, without repeated names in an object, half
 * surrogate pairs, more than 500 levels or trailing text. It does not parse, so a value of any size keeps its bytes;
 * memory holds only the names of open objects.
 */
export class StrictJson {
  readonly #utf8 = new Utf8Check();
  /** The names of each open object, or null for each open list; innermost last. */
  readonly #open: (Set<string> | null)[] = [];
  #due: Due = "value";
  #inText = false;
  /** True after an escaped first half of a surrogate pair: the second half must follow. */
  #isHalf = false;
  /** Bytes that are incomplete without the next chunk. */
  #rest: Uint8Array = Buffer.alloc(0);

  look(chunk: Uint8Array): void {
    if (!this.#utf8.look(chunk)) throw new NotStrictJson("is not UTF-8");
    this.#walk(this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]));
  }

  end(): void {
    // A blank ends a number and changes nothing else.
    if (!this.#inText) this.#walk(Buffer.concat([this.#rest, Buffer.from(" ")]));
    if (!this.#utf8.end() || this.#inText || this.#rest.length > 0 || this.#due !== "nothing")
      throw new NotStrictJson("is cut off before its end");
  }

  #walk(bytes: Uint8Array): void {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#rest = chunk.subarray(0, 0);
    let at = this.#inText ? this.#text(chunk, 0) : 0;
    while (at < chunk.length) {
      const byte = chunk[at] as number;
      if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) at++;
      else if (byte === quote)
        at = this.#due === "name" || this.#due === "first name" ? this.#name(chunk, at) : this.#value(chunk, at);
      else if (isPunctuation[byte] === 1) at = this.#punctuation(byte, at);
      else at = this.#scalar(chunk, at);
    }
  }

  #punctuation(byte: number, at: number): number {
    if (byte === comma) {
      if (this.#due !== "comma") throw unexpected(byte);
      this.#due = this.#open.at(-1) === null ? "value" : "name";
    } else if (byte === colon) {
      if (this.#due !== "colon") throw unexpected(byte);
      this.#due = "value";
    } else if (byte === openObject || byte === openList) {
      this.#demandValue(byte);
      if (this.#open.push(byte === openList ? null : new Set()) > maxLevels + levelsOfReference)
        throw new NotStrictJson(`is nested more than ${maxLevels} levels deep`);
      this.#due = byte === openList ? "first item" : "first name";
    } else {
      const isList = byte === closeList;
      const mayEnd = this.#due === "comma" || this.#due === (isList ? "first item" : "first name");
      const innermost = this.#open.pop();
      if (!mayEnd || innermost === undefined || (innermost === null) !== isList) throw unexpected(byte);
      this.#valueEnds();
    }
    return at + 1;
  }

  #demandValue(byte: number): void {
    if (this.#due !== "value" && this.#due !== "first item") throw unexpected(byte);
  }

  #valueEnds(): void {
    this.#due = this.#open.length === 0 ? "nothing" : "comma";
  }

  #value(chunk: Buffer, at: number): number {
    this.#demandValue(quote);
    this.#inText = true;
    return this.#text(chunk, at + 1);
  }

  /** Reads a text value to its end or to the end of the chunk. */
  #text(chunk: Buffer, from: number): number {
    const end = this.#throughText(chunk, from);
    if (!this.#inText) this.#valueEnds();
    return end;
  }

  #name(chunk: Buffer, at: number): number {
    this.#inText = true;
    const end = this.#throughText(chunk, at + 1);
    if (this.#inText) {
      this.#inText = this.#isHalf = false;
      return this.#keep(chunk, at);
    }
    const raw = chunk.toString("latin1", at + 1, end - 1);
    const name = raw.includes("\\") ? Buffer.from(JSON.parse(chunk.toString("utf8", at, end))).toString("latin1") : raw;
    const names = this.#open.at(-1);
    if (!names || names.size === names.add(name).size)
      throw new NotStrictJson(`has the field ${shortened(chunk.toString("utf8", at, end))} twice in one object`);
    this.#due = "colon";
    return end;
  }

  #throughText(chunk: Buffer, from: number): number {
    for (let at = from; ; ) {
      const begin = at;
      while (at < chunk.length && isPlain[chunk[at] as number] === 1) at++;
      const byte = chunk[at];
      if (this.#isHalf && (at > begin || byte === quote)) throw half();
      if (byte === undefined) return at;
      if (byte === quote) {
        this.#inText = false;
        return at + 1;
      }
      if (byte !== backslash) throw new NotStrictJson("has a control character inside of a text");
      const length = chunk[at + 1] === letterU ? 6 : 2;
      if (at + length > chunk.length) return this.#keep(chunk, at);
      this.#escape(chunk, at);
      at += length;
    }
  }

  #escape(chunk: Buffer, at: number): void {
    const kind = chunk[at + 1] as number;
    const unit = kind === letterU ? hexadecimal(chunk, at + 2) : 0;
    if (unit < 0 || (kind !== letterU && isEscape[kind] !== 1))
      throw new NotStrictJson("has an escape that JSON does not know");
    const isLow = unit >= 0xdc00 && unit <= 0xdfff;
    if (isLow !== this.#isHalf) throw half();
    this.#isHalf = unit >= 0xd800 && unit <= 0xdbff;
  }

  #scalar(chunk: Buffer, at: number): number {
    this.#demandValue(chunk[at] as number);
    let end = at;
    while (end < chunk.length && isOfScalar[chunk[end] as number] === 1) end++;
    if (end === chunk.length) return this.#keep(chunk, at);
    if (!isScalar(chunk, at, end))
      throw new NotStrictJson(
        end === at
          ? unexpected(chunk[at] as number).message
          : `has ${shortened(chunk.toString("latin1", at, end))}, which is no JSON value`,
      );
    this.#valueEnds();
    return end;
  }

  /** Keeps an incomplete token for the next chunk. */
  #keep(chunk: Buffer, from: number): number {
    if (chunk.length - from > maxTokenBytes) throw new NotStrictJson("has a field name or a number of more than 1 MB");
    this.#rest = Buffer.from(chunk.subarray(from));
    return chunk.length;
  }
}

const [quote, backslash, letterU, comma, colon] = [0x22, 0x5c, 0x75, 0x2c, 0x3a];
const [openObject, closeObject, openList, closeList] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Holds 1 for each byte that `isIn` accepts. */
function table(isIn: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (isIn(byte) ? 1 : 0));
}

const isPunctuation = table((byte) => [comma, colon, openObject, closeObject, openList, closeList].includes(byte));
const isPlain = table((byte) => byte >= 0x20 && byte !== quote && byte !== backslash);
const isEscape = table((byte) => '"\\/bfnrt'.includes(String.fromCharCode(byte)));
const isOfScalar = table((byte) => /[-+.\w]/.test(String.fromCharCode(byte)));

/** Reads four hexadecimal digits; negative for other characters. */
function hexadecimal(chunk: Buffer, at: number): number {
  const digits = chunk.toString("latin1", at, at + 4);
  return /^[\da-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : -1;
}

function unexpected(byte: number): NotStrictJson {
  return new NotStrictJson(`has ${JSON.stringify(String.fromCharCode(byte))} where JSON has none`);
}

function half(): NotStrictJson {
  return new NotStrictJson("has half a character");
}

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}

const scalar = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

/** True if the bytes are a number, `true`, `false` or `null`. */
function isScalar(chunk: Buffer, from: number, end: number): boolean {
  return scalar.test(chunk.toString("latin1", from, end));
}

const nothing = Buffer.alloc(0);

/** Checks chunks of bytes for UTF-8. A chunk may end inside a character. */
export class Utf8Check {
  /** The first bytes of a character that the next chunk completes. */
  #cut = nothing;

  /** Returns false for bytes that are certainly no UTF-8. */
  look(chunk: Uint8Array): boolean {
    const missing = this.#cut.length === 0 ? 0 : lengthFrom(this.#cut[0] as number) - this.#cut.length;
    const joined = Buffer.concat([this.#cut, chunk.subarray(0, missing)]);
    if (chunk.length < missing) {
      this.#cut = joined;
      return true;
    }
    const rest = chunk.subarray(missing);
    const whole = rest.length - cutAtEnd(rest);
    this.#cut = Buffer.from(rest.subarray(whole));
    return isUtf8(joined) && isUtf8(rest.subarray(0, whole));
  }

  end(): boolean {
    return this.#cut.length === 0;
  }
}

/** Counts the bytes at the end that start an incomplete character. */
function cutAtEnd(chunk: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, chunk.length); back++) {
    const byte = chunk[chunk.length - back] as number;
    if (byte >= 0xc0) return lengthFrom(byte) > back ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

/** The length of a character with this first byte. */
function lengthFrom(byte: number): number {
  return byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
}
