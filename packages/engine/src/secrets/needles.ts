/** A match, from `start` up to and without `end`. */
export type Range = [start: number, end: number];

/** The number of first characters that index a needle. Shorter needles are ignored. */
const keyLength = 3;

/** Finds many texts in one pass. It compares only at offsets where one of them may start. */
export class Needles {
  readonly #byKey = new Map<number, string[]>();
  /** Excludes most offsets without a comparison. */
  readonly #sieve = new Uint8Array(1 << 16);
  readonly all: string[];
  readonly longest: number;

  constructor(needles: Iterable<string>) {
    this.all = Array.from(new Set(needles))
      .filter(({ length }) => length >= keyLength)
      .sort((a, b) => b.length - a.length);
    this.longest = this.all[0]?.length ?? 0;
    for (const needle of this.all) {
      const key = keyAt(needle, 0);
      this.#sieve[slotOf(key)] = 1;
      this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), needle]);
    }
  }

  /** All matches, ordered by their start. Of several at one offset it returns the longest that `fits`. */
  *in(text: string, fits: (start: number, end: number) => boolean = () => true): Iterable<Range> {
    if (this.longest === 0) return;
    for (let at = this.#nextPlace(text, 0); at < text.length; at = this.#nextPlace(text, at + 1)) {
      const some = this.#byKey.get(keyAt(text, at));
      const found = some?.find((one) => text.startsWith(one, at) && fits(at, at + one.length));
      if (found !== undefined) yield [at, at + found.length];
    }
  }

  /** The next offset where a needle may start, or the text's length. */
  #nextPlace(text: string, from: number): number {
    const sieve = this.#sieve;
    let key = keyAt(text, from - 1);
    for (let end = from + keyLength - 1; end < text.length; end++) {
      key = ((key << 8) | (text.charCodeAt(end) & 0xff)) & 0xffffff;
      if (sieve[slotOf(key)] === 1) return end - keyLength + 1;
    }
    return text.length;
  }

  /** The number of characters at the start of the text that are the end of a needle. */
  restAtStart(text: string, shortest: number): number {
    return this.#longestRest(shortest, (needle) => overlap(needle, text.slice(0, needle.length - 1)));
  }

  /** The number of characters at the end of the text that are the start of a needle. */
  restAtEnd(text: string, shortest: number): number {
    return this.#longestRest(shortest, (needle) => overlap(text, needle.slice(0, -1)));
  }

  #longestRest(shortest: number, restOf: (needle: string) => number): number {
    const longest = this.all.reduce(
      (most, needle) => (needle.length > most + 1 ? Math.max(most, restOf(needle)) : most),
      0,
    );
    return longest >= shortest ? longest : 0;
  }
}

/** Length of the longest start of `pattern` that `text` ends with, in time linear in both (Knuth, Morris, Pratt). */
function overlap(text: string, pattern: string): number {
  const tail = text.slice(-pattern.length);
  const borders = new Int32Array(pattern.length);
  let matched = 0;
  for (let at = 1; at < pattern.length; at++) {
    while (matched > 0 && pattern[at] !== pattern[matched]) matched = borders[matched - 1] as number;
    if (pattern[at] === pattern[matched]) matched++;
    borders[at] = matched;
  }
  matched = 0;
  for (let at = 0; at < tail.length && pattern !== ""; at++) {
    while (matched > 0 && (matched === pattern.length || tail[at] !== pattern[matched])) {
      matched = borders[matched - 1] as number;
    }
    if (tail[at] === pattern[matched]) matched++;
  }
  return matched;
}

function keyAt(text: string, at: number): number {
  return (
    ((text.charCodeAt(at) & 0xff) << 16) | ((text.charCodeAt(at + 1) & 0xff) << 8) | (text.charCodeAt(at + 2) & 0xff)
  );
}

function slotOf(key: number): number {
  return Math.imul(key, 0x9e3779b1) >>> 16;
}
