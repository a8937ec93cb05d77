import { isUtf8 } from "node:buffer";

/** So few are compared faster than they are hashed. */
const fewNames = 8;

/** The names of one object, each once. */
export class Names {
  readonly #few: string[] = [];
  #many: Set<string> | undefined;

  /** False where it is there. */
  add(name: string): boolean {
    if (this.#many) return this.#many.size < this.#many.add(name).size;
    if (this.#few.includes(name)) return false;
    if (this.#few.push(name) > fewNames) this.#many = new Set(this.#few);
    return true;
  }
}

/** Whether a number, `true`, `false` or `null` is all that stands between two places of a JSON text. */
export function isScalar(chunk: Buffer, from: number, end: number): boolean {
  return isNumber(chunk, from, end) || isWord(chunk, from, end);
}

function isNumber(chunk: Buffer, from: number, end: number): boolean {
  let at = chunk[from] === 0x2d ? from + 1 : from;
  const whole = digitsFrom(chunk, at, end);
  if (whole === at || (chunk[at] === 0x30 && whole > at + 1)) return false;
  at = whole;
  if (at < end && chunk[at] === 0x2e) {
    const fraction = digitsFrom(chunk, at + 1, end);
    if (fraction === at + 1) return false;
    at = fraction;
  }
  if (at < end && ((chunk[at] as number) | 0x20) === 0x65) {
    const sign = chunk[at + 1] === 0x2b || chunk[at + 1] === 0x2d ? 1 : 0;
    const exponent = digitsFrom(chunk, at + 1 + sign, end);
    if (exponent === at + 1 + sign) return false;
    at = exponent;
  }
  return at === end;
}

function digitsFrom(chunk: Buffer, from: number, end: number): number {
  let at = from;
  while (at < end && (chunk[at] as number) >= 0x30 && (chunk[at] as number) <= 0x39) at++;
  return at;
}

const words = new Set(["true", "false", "null"]);

function isWord(chunk: Buffer, from: number, end: number): boolean {
  return end - from <= 5 && words.has(chunk.toString("latin1", from, end));
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
