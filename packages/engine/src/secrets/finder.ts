import type { Forms } from "./forms.ts";
import { Needles, type Range } from "./needles.ts";

/** Base64 of which a line may end anywhere; shorter ones would be found in words of two lines. */
const shortestInLines = 8;
/** A line's end, also as texts inside texts have it. */
const lineEnds = /(?:\\{1,8}[nr]|[\r\n])+/g;

/** Finds the forms of secrets in texts, or in bytes that are given as one character each. */
export class Finder {
  readonly #texts: Needles;
  readonly #numbers: Needles;
  readonly #inLines: Needles;

  constructor(forms: readonly Forms[]) {
    const base64 = forms.flatMap((form) => form.base64);
    this.#texts = new Needles([...forms.flatMap(({ texts }) => texts), ...base64]);
    this.#numbers = new Needles(forms.flatMap(({ numbers }) => numbers));
    this.#inLines = new Needles(base64.filter(({ length }) => length >= shortestInLines));
  }

  /** No secret is longer in any form, its line ends and what stands around it included. */
  get longest(): number {
    return Math.max(this.#texts.longest, this.#numbers.longest + 4, Math.ceil(this.#inLines.longest * 1.2) + 16);
  }

  /** `isOver`: nothing comes after the text. */
  finds(text: string, isOver = true): boolean {
    for (const _ of this.#in(text, isOver)) return true;
    return false;
  }

  /** In order, without overlaps. */
  rangesIn(text: string): Range[] {
    return merged(Array.from(this.#in(text, true)));
  }

  /** How much of the text's beginning is the end of a secret. */
  restAtStart(text: string, shortest: number): number {
    const start = text.slice(0, this.longest);
    const halfEnd = /^\\{0,8}[nr]/.exec(start)?.[0].length ?? 0;
    const whole = [this.#texts, this.#numbers].map((needles) => needles.restAtStart(start, shortest));
    return Math.max(...whole, ...[0, halfEnd].map((from) => startInLines(this.#inLines, start, from, shortest)));
  }

  /** How much of the text's end is the beginning of a secret. */
  restAtEnd(text: string, shortest: number): number {
    const end = text.slice(-this.longest);
    const [halfEnd = ""] = /\\*$/.exec(end) ?? [];
    const whole = [this.#texts, this.#numbers].map((needles) => needles.restAtEnd(end, shortest));
    return Math.max(...whole, ...[0, halfEnd.length].map((cut) => endInLines(this.#inLines, end, cut, shortest)));
  }

  *#in(text: string, isOver: boolean): Iterable<Range> {
    yield* this.#texts.in(text);
    yield* this.#numbers.in(text, (start, end) => (isOver || end + 2 <= text.length) && isAlone(text, start, end));
    if (this.#inLines.longest === 0 || text.search(lineEnds) < 0) return;
    const { squeezed, place } = withoutLineEnds(text);
    for (const [start, end] of this.#inLines.in(squeezed)) yield [place(start), place(end - 1) + 1];
  }
}

/** `from`: a part of a line's end may stand before it. */
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

/** A number is another one where digits or letters go on before it or behind it; `\n` before it is no letter. */
function isAlone(text: string, start: number, end: number): boolean {
  const isEscape = /[a-z]/.test(text[start - 1] ?? "") && text[start - 2] === "\\";
  if (/[0-9A-Za-z]/.test(text[start - 1] ?? "") && !isEscape) return false;
  if (/[0-9A-Za-z]/.test(text[end] ?? "")) return false;
  return !/^\d[.,_]$/.test(text.slice(Math.max(0, start - 2), start)) && !/^[.,_]\d/.test(text.slice(end, end + 2));
}

/** `place`: where a character of the squeezed text stands in the whole one; to be asked in order. */
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
