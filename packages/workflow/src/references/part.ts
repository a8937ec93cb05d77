import { isObject, isRawNumber, type Loose, parseExact } from "../json/exact.ts";
import type { ReferenceStep } from "./grammar.ts";

/** A part of an output, and how its item was found if a step named one. */
export interface Part {
  value: unknown;
  item?: ItemSource;
}

/** Finds parts of outputs. It reads a text as a list once, even for many references. */
export class Parts {
  readonly #lists = new Map<string, TextLists>();
  readonly #parsed = new Map<string, unknown>();

  /** Undefined if the steps lead nowhere. Without steps: the `output` of the node, or everything that it set. */
  find(output: unknown, steps: readonly ReferenceStep[]): Part | undefined {
    const [first, ...others] = steps;
    if (first === undefined) return { value: mainOf(output) };
    let part = first.kind === "key" ? this.#firstKey(output, first.key) : this.#step(mainOf(output), first);
    for (const next of others) {
      const inner: Part | undefined = part && this.#step(part.value, next);
      part = inner && { ...part, ...inner };
    }
    return part;
  }

  /** Finds a key among the keys that the node set, or else in its `output`. */
  #firstKey(output: unknown, key: string): Part | undefined {
    const own = this.#key(output, key);
    const main = mainOf(output);
    return own ?? (main === output ? undefined : this.#key(main, key));
  }

  #step(value: unknown, step: ReferenceStep): Part | undefined {
    if (step.kind === "key") return this.#key(value, step.key);
    return this.#item(value, step.number, step.kind === "item" ? 1 : 0);
  }

  #key(value: unknown, key: string): Part | undefined {
    const object = typeof value === "string" ? this.#json(value, "{") : value;
    return isPlainObject(object) && Object.hasOwn(object, key) ? { value: object[key] } : undefined;
  }

  #item(value: unknown, number: number, from: 0 | 1): Part | undefined {
    const list = typeof value === "string" ? this.#json(value, "[") : value;
    if (Array.isArray(list)) return partAt(list, number - from, "json");
    if (typeof value !== "string") return undefined;
    const { numbered, bulleted } = this.#listsIn(value);
    if (numbered.size === 0) return partAt(bulleted, number - from, "bullet");
    const item = numbered.get(number);
    return item === undefined ? undefined : { value: item, item: "label" };
  }

  /** Parses a text that is JSON and starts with `begin`. Models often answer with JSON texts. */
  #json(text: string, begin: "{" | "["): unknown {
    if (text.trimStart()[0] !== begin) return undefined;
    if (!this.#parsed.has(text)) this.#parsed.set(text, exactOrNot(text));
    return this.#parsed.get(text);
  }

  #listsIn(text: string): TextLists {
    const known = this.#lists.get(text) ?? listsIn(text);
    this.#lists.set(text, known);
    return known;
  }
}

/** The main value of a node: its key `output` if it has one, or else all of it. */
function mainOf(output: unknown): unknown {
  return isPlainObject(output) && Object.hasOwn(output, "output") ? output.output : output;
}

function partAt(list: readonly unknown[], index: number, item: ItemSource): Part | undefined {
  return Object.hasOwn(list, index) ? { value: list[index], item } : undefined;
}

function isPlainObject(value: unknown): value is Loose {
  return isObject(value) && !isRawNumber(value);
}

function exactOrNot(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    // Keeping the digits of every number is several times slower, and most texts lose none.
    return JSON.stringify(value) === text ? value : parseExact(text);
  } catch {
    return undefined;
  }
}

export type ItemSource = "label" | "json" | "bullet";

/** The lists in a text, as people and models write them. */
export interface TextLists {
  /** Items of `1.`, `1)` or `1:` by label. The first one counts if a label is repeated. */
  numbered: ReadonlyMap<number, string>;
  bulleted: readonly string[];
}

interface Mark {
  kind: "numbered" | "bulleted";
  label: number;
  indent: number;
  start: number;
}

/** Finds the lists in one pass. An item ends at the next one, or at an empty line before a line without indentation. */
export function listsIn(text: string): TextLists {
  const numbered = new Map<number, string>();
  const bulleted: string[] = [];
  const bases = { numbered: Number.POSITIVE_INFINITY, bulleted: Number.POSITIVE_INFINITY };
  let open: { mark: Mark; end: number } | undefined;
  let isBehindGap = false;
  const close = () => {
    if (!open) return;
    const { mark, end } = open;
    const item = text.slice(mark.start, end).trim();
    if (mark.kind === "bulleted") bulleted.push(item);
    else if (!numbered.has(mark.label)) numbered.set(mark.label, item);
    open = undefined;
  };
  for (let start = 0; start <= text.length; ) {
    const line = lineAt(text, start);
    const mark = markAt(text, start);
    const isInside = open !== undefined && line.indent > open.mark.indent;
    if (line.isEmpty) isBehindGap = true;
    else if (mark && !isInside && mark.indent <= bases[mark.kind]) {
      close();
      bases[mark.kind] = Math.min(bases[mark.kind], mark.indent);
      open = { mark, end: line.end };
    } else if (open && (isInside || !isBehindGap)) open.end = line.end;
    else close();
    if (!line.isEmpty) isBehindGap = false;
    start = line.end + 1;
  }
  close();
  return { numbered, bulleted };
}

const blanks = /[ \t\r]*/y;

function lineAt(text: string, start: number): { end: number; indent: number; isEmpty: boolean } {
  const found = text.indexOf("\n", start);
  const end = found < 0 ? text.length : found;
  blanks.lastIndex = start;
  const indent = blanks.exec(text)?.[0].length ?? 0;
  return { end, indent, isEmpty: start + indent === end };
}

/** A bullet, or a label of at most six digits. */
const markPattern = /([ \t\r]*)(?:[-*+•]|(\d{1,6})[.):])(?=[ \t\r\n]|$)/y;

function markAt(text: string, start: number): Mark | undefined {
  markPattern.lastIndex = start;
  const [whole, before = "", label] = markPattern.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const kind = label === undefined ? "bulleted" : "numbered";
  return { kind, label: Number(label ?? 0), indent: before.length, start: start + whole.length };
}
