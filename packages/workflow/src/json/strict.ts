import { isUtf8 } from "node:buffer";

/** Levels inside of each other that a value has at most; the harness in the sandbox counts the same. */
const maxLevels = 500;
/** A reference to a blob, where the value itself has one byte string, is two more. */
const levelsOfReference = 2;

/** Names and numbers longer than this are nobody's. */
const maxTokenBytes = 1024 * 1024;

/** A text that is not exactly one JSON value; its message completes "it ...". */
export class NotStrictJson extends Error {
  override name = "NotStrictJson";
}

/** Why a text is not exactly one JSON value (see `StrictJson`), to complete "it ..."; undefined where it is one. */
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

/** Numbers, words and plain texts: what most values are. A node may set a hundred thousand of them. */
const simple = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?|true|false|null|"[ !#-[\]-~]*")$/;

/** What may come next. */
type Due = "value" | "first item" | "name" | "first name" | "colon" | "comma" | "nothing";

/**
 * Checks, as it passes by in chunks, that a text is exactly one JSON value: UTF-8, no name twice in an object, no half
 * character, at most 500 levels, nothing behind it. The text is not parsed, so a value of any size keeps its bytes, and
 * all that is kept in memory are the names of the objects that are open.
 */
export class StrictJson {
  readonly #utf8 = new Utf8Check();
  /** Of each open object its names so far, of each open list null; innermost last. */
  readonly #open: (Set<string> | null)[] = [];
  #due: Due = "value";
  #inText = false;
  /** The first half of a character was escaped, so its other half has to follow. */
  #isHalf = false;
  /** Bytes that mean something only with those of the next chunk. */
  #rest: Uint8Array = Buffer.alloc(0);

  look(chunk: Uint8Array): void {
    if (!this.#utf8.look(chunk)) throw new NotStrictJson("is not UTF-8");
    this.#walk(this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]));
  }

  end(): void {
    // It ends a number, and nothing else.
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

  /** On through a text that is a value, to behind its end or to the end of the chunk. */
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

  /** What began here goes on in the next chunk. */
  #keep(chunk: Buffer, from: number): number {
    if (chunk.length - from > maxTokenBytes) throw new NotStrictJson("has a field name or a number of more than 1 MB");
    this.#rest = Buffer.from(chunk.subarray(from));
    return chunk.length;
  }
}

const [quote, backslash, letterU, comma, colon] = [0x22, 0x5c, 0x75, 0x2c, 0x3a];
const [openObject, closeObject, openList, closeList] = [0x7b, 0x7d, 0x5b, 0x5d];

/** 1 for each byte of which this is true. */
function table(isIn: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (isIn(byte) ? 1 : 0));
}

const isPunctuation = table((byte) => [comma, colon, openObject, closeObject, openList, closeList].includes(byte));
const isPlain = table((byte) => byte >= 0x20 && byte !== quote && byte !== backslash);
const isEscape = table((byte) => '"\\/bfnrt'.includes(String.fromCharCode(byte)));
const isOfScalar = table((byte) => /[-+.\w]/.test(String.fromCharCode(byte)));

/** The number that four hexadecimal digits write; negative where they are none. */
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

/** Whether a number, `true`, `false` or `null` is all that stands between two places of a JSON text. */
function isScalar(chunk: Buffer, from: number, end: number): boolean {
  return scalar.test(chunk.toString("latin1", from, end));
}

const nothing = Buffer.alloc(0);

/** Whether bytes that pass by in chunks are UTF-8; a character may be cut in two anywhere. */
export class Utf8Check {
  /** The beginning of a character whose end is in the next chunk. */
  #cut = nothing;

  /** False where they are not, for sure. */
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

/** How many bytes at the end are the beginning of a character. */
function cutAtEnd(chunk: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, chunk.length); back++) {
    const byte = chunk[chunk.length - back] as number;
    if (byte >= 0xc0) return lengthFrom(byte) > back ? back : 0;
    if (byte < 0x80) return 0;
  }
  return 0;
}

/** Bytes of a character that begins with this one. */
function lengthFrom(byte: number): number {
  return byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
}
