import { isRawNumber, parseExact } from "../json/exact.ts";
import { isObject, type Loose } from "../json/value.ts";
import type { ReferenceStep } from "./grammar.ts";
import { type ItemSource, listsIn, type TextLists } from "./items.ts";

/** A part of an output, and how its item was found if a step named one. */
export interface Part {
  value: unknown;
  item?: ItemSource;
}

/** Finds parts of outputs. It reads a text as a list once, even for many references. */
export class Parts {
  readonly #lists = new Map<string, TextLists>();
  readonly #parsed = new Map<string, unknown>();

  /**
   * Returns undefined if the steps lead nowhere. Without steps, returns the `output` of the node, or everything that it
   * set.
   */
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
