import { at } from "../findings/finding.ts";

/**
 * The position of a value in a JSON text, and of the values in it. `JSON.parse` reports no positions, and hides
 * repeated fields.
 */
export interface JsonPosition {
  offset: number;
  /** The offset after the last character of the value. */
  end: number;
  fields?: Map<string, JsonPosition>;
  items?: JsonPosition[];
}

export interface Scan {
  root: JsonPosition;
  repeated: { name: string; offset: number }[];
}

/** Thrown if a text is not JSON. `expected` completes "expected ...". */
export class NotJson extends Error {
  override name = "NotJson";
  readonly offset: number;
  constructor(expected: string, offset: number) {
    super(`expected ${expected}`);
    this.offset = offset;
  }
}

const space = /[ \t\r\n]*/y;
const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids raw control characters in strings
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;

const deepest = 500;

/** Scans a JSON text. Throws `NotJson`. */
export function scanJson(text: string): Scan {
  const scanner = new Scanner(text);
  const root = scanner.value(0);
  scanner.end();
  return { root, repeated: scanner.repeated };
}

class Scanner {
  readonly repeated: Scan["repeated"] = [];
  #offset = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): JsonPosition {
    this.#take(space);
    const offset = this.#offset;
    if (depth > deepest) throw new NotJson(`at most ${deepest} levels`, offset);
    if (this.#skip("{")) return { offset, fields: this.#fields(depth), end: this.#offset };
    if (this.#skip("[")) return { offset, items: this.#items(depth), end: this.#offset };
    if (!this.#take(string) && !this.#take(scalar)) throw new NotJson("a value", offset);
    return { offset, end: this.#offset };
  }

  end(): void {
    this.#take(space);
    if (this.#offset < this.#text.length) throw new NotJson("nothing more", this.#offset);
  }

  #fields(depth: number): Map<string, JsonPosition> {
    const fields = new Map<string, JsonPosition>();
    if (this.#skip("}")) return fields;
    do {
      this.#take(space);
      const offset = this.#offset;
      if (!this.#take(string)) throw new NotJson("a field name in double quotes", offset);
      const name: string = JSON.parse(this.#text.slice(offset, this.#offset));
      if (!this.#skip(":")) throw new NotJson('":"', this.#offset);
      if (fields.has(name)) this.repeated.push({ name, offset });
      fields.set(name, this.value(depth + 1));
    } while (this.#skip(","));
    if (!this.#skip("}")) throw new NotJson('"," or "}"', this.#offset);
    return fields;
  }

  #items(depth: number): JsonPosition[] {
    const items: JsonPosition[] = [];
    if (this.#skip("]")) return items;
    do items.push(this.value(depth + 1));
    while (this.#skip(","));
    if (!this.#skip("]")) throw new NotJson('"," or "]"', this.#offset);
    return items;
  }

  #skip(punctuation: string): boolean {
    this.#take(space);
    const found = this.#text[this.#offset] === punctuation;
    if (found) this.#offset++;
    return found;
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.#offset;
    if (!pattern.test(this.#text)) return false;
    this.#offset = pattern.lastIndex;
    return true;
  }
}

/** A position in a text, from 1, in UTF-16 units. */
export interface LineColumn {
  line: number;
  column: number;
}

/** Returns a function from an offset to its position. The text is read only once. */
export function linesOf(text: string): (offset: number) => LineColumn {
  const starts = [0];
  for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", end + 1)) starts.push(end + 1);
  return (offset) => {
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] as number) + 1 };
  };
}

/** Returns the position of the innermost value on the path that exists in the text. */
export function positionOf(scan: Scan, segments: readonly (string | number)[]): JsonPosition {
  let place = scan.root;
  for (const segment of segments) {
    const next = typeof segment === "number" ? place.items?.[segment] : place.fields?.get(segment);
    if (next === undefined) break;
    place = next;
  }
  return place;
}

/**
 * Matches an escape of half a surrogate pair. A text that was read as UTF-8 can contain half a pair only as an escape.
 */
const escapedHalf = /\\u[dD][89a-fA-F]/;

/**
 * Returns the path of a text with half a surrogate pair; undefined if there is none. UTF-8 cannot represent a half, so
 * no node could return such a text.
 */
export function halfCharacterIn(json: string, path = "$"): string | undefined {
  return escapedHalf.test(json) ? halfIn(JSON.parse(json), path) : undefined;
}

/** Searches without recursion, because the text may be nested to any depth. */
function halfIn(whole: unknown, path: string): string | undefined {
  const waiting = [{ value: whole, path }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { value, path } = next;
    if (typeof value === "string" && !value.isWellFormed()) return path;
    if (typeof value !== "object" || value === null) continue;
    const steps = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
    const broken = steps.find(([step]) => typeof step === "string" && !step.isWellFormed());
    if (broken) return at(path, broken[0]);
    for (const [step, inside] of steps.reverse()) waiting.push({ value: inside, path: at(path, step) });
  }
  return undefined;
}
