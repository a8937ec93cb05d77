import { isUtf8 } from "node:buffer";

const scalar = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

/** Whether a number, `true`, `false` or `null` is all that stands between two places of a JSON text. */
export function isScalar(chunk: Buffer, from: number, end: number): boolean {
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
