import type { Forms } from "./forms.ts";
import { isEscaped, longestEscape, type Unescaped, unescaped } from "./unescape.ts";

/**
 * The length of the shortest base64 text that `Finder` also finds if line ends split the text. Shorter texts would
 * match ordinary words.
 */
const shortestInLines = 8;
/** Matches line ends: real line ends, and escaped line ends such as `\n` in JSON inside JSON. */
const lineEnds = /(?:\\{1,8}[nr]|[\r\n])+/g;

/** Finds the forms of secrets in a text. The text may also stand for bytes, with one character for each byte. */
export class Finder {
  readonly #texts: Needles;
  readonly #numbers: Needles;
  readonly #inLines: Needles;
  readonly #unescaped: Needles;
  /**
   * Forms with a space in place of each plus sign, because a URL writes a space as a plus sign. `Finder` searches them
   * in a text in which spaces also replace the plus signs.
   */
  readonly #spaced: Needles;
  readonly #ofBytes: boolean;

  /** With `ofBytes`, the searched texts and the forms are bytes, one character each. */
  constructor(forms: readonly Forms[], ofBytes: boolean) {
    const base64 = forms.flatMap((form) => form.base64);
    this.#texts = new Needles([...forms.flatMap(({ texts }) => texts), ...base64]);
    this.#numbers = new Needles(forms.flatMap(({ numbers }) => numbers));
    this.#inLines = new Needles(base64.filter(({ length }) => length >= shortestInLines));
    const plain = forms.flatMap((form) => form.unescaped);
    this.#unescaped = new Needles([...plain, ...base64]);
    this.#spaced = new Needles(plain.filter((form) => /[+ ]/.test(form)).map(spaced));
    this.#ofBytes = ofBytes;
  }

  /**
   * The maximum length of a match. It includes line ends inside the match, and the characters next to the match that
   * decide whether the match counts.
   */
  get longest(): number {
    const inLines = Math.ceil(this.#inLines.longest * 1.2) + 16;
    return Math.max(this.#texts.longest, this.#numbers.longest + 4, inLines, this.#unescaped.longest * longestEscape);
  }

  finds(text: string, isOver = true): boolean {
    for (const _ of this.#in(text, isOver)) return true;
    return false;
  }

  rangesIn(text: string): Range[] {
    return merged(Array.from(this.#in(text, true)));
  }

  /** Returns how many characters at the start of the text may be the end of a secret whose start is missing. */
  restAtStart(text: string, shortest: number): number {
    const start = text.slice(0, this.longest);
    const halfEnd = /^\\{0,8}[nr]/.exec(start)?.[0].length ?? 0;
    const whole = [this.#texts, this.#numbers].map((needles) => needles.restAtStart(start, shortest));
    const inLines = [0, halfEnd].map((from) => startInLines(this.#inLines, start, from, shortest));
    return Math.max(...whole, ...inLines, ...longEnough(this.#escapedStarts(start), shortest));
  }

  /** Returns how many characters at the end of the text may be the start of a secret whose end is missing. */
  restAtEnd(text: string, shortest: number): number {
    const end = text.slice(-this.longest);
    const [halfEnd = ""] = /\\*$/.exec(end) ?? [];
    const whole = [this.#texts, this.#numbers].map((needles) => needles.restAtEnd(end, shortest));
    const inLines = [0, halfEnd.length].map((cut) => endInLines(this.#inLines, end, cut, shortest));
    return Math.max(...whole, ...inLines, ...longEnough(this.#escapedEnds(end), shortest));
  }

  /**
   * Yields the lengths of those starts of the text that may be the end of an escaped secret. The text may start in the
   * middle of an escape.
   */
  *#escapedStarts(text: string): Iterable<number> {
    for (const { bytes, end } of this.#views(text)) {
      const [half = ""] = halfStart.exec(bytes) ?? [];
      for (let skipped = 0; skipped <= half.length; skipped++) {
        const rest = this.#unescapedRest("restAtStart", bytes.slice(skipped));
        const length = rest === 0 ? 0 : end(skipped + rest - 1);
        if (skipped === 0 || length - skipped >= fewestBehindHalf) yield length;
      }
    }
  }

  /**
   * Yields the lengths of those ends of the text that may be the start of an escaped secret. The text may end in the
   * middle of an escape.
   */
  *#escapedEnds(text: string): Iterable<number> {
    for (const { bytes, start } of this.#views(text)) {
      const [half = ""] = halfEscape.exec(bytes) ?? [];
      for (let skipped = half.length; skipped >= 0; skipped--) {
        if (skipped > 0 && !/[%&\\]/.test(half.at(-skipped) as string)) continue;
        const last = bytes.length - skipped;
        const rest = this.#unescapedRest("restAtEnd", bytes.slice(0, last));
        // A secret may start with an escape that is cut off at the end of the text. Then `rest` is 0.
        if (rest + skipped > 0) yield text.length - start(last - rest);
      }
    }
  }

  #unescapedRest(side: "restAtStart" | "restAtEnd", bytes: string): number {
    return Math.max(this.#unescaped[side](bytes, 1), this.#spaced[side](spaced(bytes), 1));
  }

  /** Yields the text as bytes, and then the text with its escapes decoded once, twice and so on. */
  *#views(text: string): Iterable<Unescaped> {
    if (this.#unescaped.longest === 0) return;
    if (this.#ofBytes || /^[\0-\x7f]*$/.test(text)) yield { bytes: text, start: (at) => at, end: (at) => at + 1 };
    yield* unescaped(text, this.#ofBytes);
  }

  *#in(text: string, isOver: boolean): Iterable<Range> {
    yield* this.#texts.in(text);
    yield* this.#numbers.in(text, (start, end) => (isOver || end + 2 <= text.length) && isAlone(text, start, end));
    if (this.#inLines.longest > 0 && text.search(lineEnds) >= 0) {
      const { squeezed, place } = withoutLineEnds(text);
      for (const [start, end] of this.#inLines.in(squeezed)) yield [place(start), place(end - 1) + 1];
    }
    yield* this.#inEscapes(text);
  }

  *#inEscapes(text: string): Iterable<Range> {
    const hasPlus = this.#spaced.longest > 0 && text.includes("+");
    if (this.#unescaped.longest === 0 || !(hasPlus || isEscaped(text))) return;
    for (const { bytes, start, end } of this.#views(text)) {
      for (const [from, to] of this.#unescaped.in(bytes)) yield [start(from), end(to - 1)];
      for (const [from, to] of this.#spaced.in(spaced(bytes))) yield [start(from), end(to - 1)];
    }
  }
}

/**
 * Matches a text that may be the rest of an escape whose start was cut off: `3` of `%c3`, `25c3` of `%2525c3`, `amp;`
 * of `&amp;`.
 */
const halfStart = /^[0-9a-z#;]{0,12}/i;
/**
 * The smallest number of characters of a secret that must follow an escape whose start was cut off. Fewer characters
 * would match ordinary words.
 */
const fewestBehindHalf = 3;
/** Matches a text that may be the start of an escape, at the end of a longer text. */
const halfEscape = /[%&\\][0-9a-z#%&\\]{0,12}$/i;

/** Returns the lengths that are at least `shortest`. The length of an escape is the number of its characters. */
function longEnough(rests: Iterable<number>, shortest: number): number[] {
  return [...rests].filter((rest) => rest >= shortest);
}

function spaced(bytes: string): string {
  return bytes.replaceAll("+", " ");
}

/**
 * Returns how many characters at the start of `text` may be the end of a searched text that line ends split. The first
 * `from` characters are the rest of an escaped line end.
 */
function startInLines(needles: Needles, text: string, from: number, shortest: number): number {
  const { squeezed, place } = withoutLineEnds(text.slice(from));
  const rest = needles.restAtStart(squeezed, shortest);
  return rest === 0 ? 0 : from + place(rest - 1) + 1;
}

function endInLines(needles: Needles, text: string, cut: number, shortest: number): number {
  const { squeezed, place } = withoutLineEnds(text.slice(0, text.length - cut));
  const rest = needles.restAtEnd(squeezed, shortest);
  return rest === 0 ? 0 : text.length - place(squeezed.length - rest);
}

/**
 * Returns whether the number stands alone. A number next to a digit or a letter would be part of another number or
 * word. The `n` of an escaped `\n` before the number does not count as a letter.
 */
function isAlone(text: string, start: number, end: number): boolean {
  const isEscape = /[a-z]/.test(text[start - 1] ?? "") && text[start - 2] === "\\";
  if (/[0-9A-Za-z]/.test(text[start - 1] ?? "") && !isEscape) return false;
  if (/[0-9A-Za-z]/.test(text[end] ?? "")) return false;
  return !/^\d[.,_]$/.test(text.slice(Math.max(0, start - 2), start)) && !/^[.,_]\d/.test(text.slice(end, end + 2));
}

/**
 * Returns the text without its line ends. `place` maps an offset in the result to the offset in the text. Call `place`
 * with ascending offsets.
 */
function withoutLineEnds(text: string): { squeezed: string; place: (at: number) => number } {
  const parts: string[] = [];
  const cuts: { at: number; removed: number }[] = [];
  let [from, kept, removed] = [0, 0, 0];
  for (const { index, 0: end } of text.matchAll(lineEnds)) {
    parts.push(text.slice(from, index));
    kept += index - from;
    from = index + end.length;
    removed += end.length;
    cuts.push({ at: kept, removed });
  }
  parts.push(text.slice(from));
  return { squeezed: parts.join(""), place: (at) => at + removedBefore(cuts, at) };
}

function removedBefore(cuts: { at: number; removed: number }[], at: number): number {
  let [low, high] = [0, cuts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((cuts[middle] as { at: number }).at <= at) low = middle + 1;
    else high = middle;
  }
  return cuts[low - 1]?.removed ?? 0;
}

export function merged(ranges: Range[]): Range[] {
  const all: Range[] = [];
  for (const [start, end] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = all.at(-1);
    if (last && start < last[1]) last[1] = Math.max(last[1], end);
    else all.push([start, end]);
  }
  return all;
}

/** The offsets of a match: from `start` up to, but without, `end`. */
export type Range = [start: number, end: number];

/** The number of first characters by which `Needles` indexes the searched texts. `Needles` ignores shorter texts. */
const keyLength = 3;

/** Finds many texts in one pass. It compares only at offsets where one of these texts may start. */
class Needles {
  readonly #byKey = new Map<number, string[]>();
  /**
   * A filter that shows, for most offsets, that no searched text starts there. At these offsets, `in` compares no
   * texts.
   */
  readonly #sieve: Uint8Array;
  readonly all: string[];
  readonly longest: number;

  constructor(needles: Iterable<string>) {
    this.all = Array.from(new Set(needles))
      .filter(({ length }) => length >= keyLength)
      .sort((a, b) => b.length - a.length);
    this.longest = this.all[0]?.length ?? 0;
    this.#sieve = new Uint8Array(this.longest === 0 ? 0 : 1 << 16);
    for (const needle of this.all) {
      const key = keyAt(needle, 0);
      this.#sieve[slotOf(key)] = 1;
      this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), needle]);
    }
  }

  /**
   * Yields all matches, ordered by their start. If several searched texts match at one offset, yields the longest match
   * for which `fits` returns true.
   */
  *in(text: string, fits: (start: number, end: number) => boolean = () => true): Iterable<Range> {
    if (this.longest === 0) return;
    for (let at = this.#nextPlace(text, 0); at < text.length; at = this.#nextPlace(text, at + 1)) {
      const some = this.#byKey.get(keyAt(text, at));
      const found = some?.find((one) => text.startsWith(one, at) && fits(at, at + one.length));
      if (found !== undefined) yield [at, at + found.length];
    }
  }

  /** Returns the next offset at which a searched text may start, or the length of the text. */
  #nextPlace(text: string, from: number): number {
    const sieve = this.#sieve;
    let key = keyAt(text, from - 1);
    for (let end = from + keyLength - 1; end < text.length; end++) {
      key = ((key << 8) | (text.charCodeAt(end) & 0xff)) & 0xffffff;
      if (sieve[slotOf(key)] === 1) return end - keyLength + 1;
    }
    return text.length;
  }

  /** Returns how many characters at the start of `text` are the end of a searched text; 0 if fewer than `shortest`. */
  restAtStart(text: string, shortest: number): number {
    return this.#longestRest(shortest, (needle) => overlap(needle, text.slice(0, needle.length - 1)));
  }

  /** Returns how many characters at the end of `text` are the start of a searched text; 0 if fewer than `shortest`. */
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

/**
 * Returns the length of the longest end of `text` that is a start of `pattern`, in linear time (Knuth, Morris, Pratt).
 */
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
