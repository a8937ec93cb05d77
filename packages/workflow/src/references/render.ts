import { defined } from "../defined.ts";
import { isObject, isRawNumber, type Loose, parseExact } from "../json/exact.ts";
import { normalName, promptParts, type ReferenceStep } from "./grammar.ts";

/** Maximum number of characters of one inserted value, unless the options have another limit. */
export const defaultMaxChars = 50_000;

export interface RenderOptions {
  maxChars?: number;
  /** Masks secrets in the text of each value before it is inserted. */
  mask?(text: string): string;
}

export interface InsertedReference {
  reference: string;
  node?: string;
  found_by: FoundBy;
  /** How the item of a list was found. Absent if no step of the reference names an item. */
  item?: ItemSource;
  characters: number;
  /** The number of characters after which the value was cut. Absent if the whole value was inserted. */
  cut_at?: number;
}

export interface MissingReference {
  reference: string;
  name: string;
  /** True if the node has a value, but not the part that the steps name. */
  has_node: boolean;
}

export interface RenderedPrompt {
  /** The prompt with all references replaced. For a missing value it has the text of `contextError`. */
  processed_prompt: string;
  processed_node_values: Record<string, string>;
  references: InsertedReference[];
  missing: MissingReference[];
}

/** Replaces the references in a prompt by their values. References inside an inserted value are not replaced. */
export function renderPrompt(prompt: string, data: ContextData, options: RenderOptions = {}): RenderedPrompt {
  const lookup = new Lookup(data);
  const parts = new Parts();
  const values = new Map<string, string>();
  const inserted = new Map<string, InsertedReference>();
  const missing = new Map<string, MissingReference>();
  const texts = promptParts(prompt, (name) => lookup.isName(name)).map((part) => {
    if (part.kind === "text") return part.text;
    const inside = part.written.slice(1, -1).trim();
    const known = values.get(inside);
    if (known !== undefined) return known;
    const found = lookup.find(part.name);
    const value = found && parts.find(found.value, part.steps);
    if (!found || !value) {
      missing.set(inside, { reference: part.written, name: part.name, has_node: found !== undefined });
      return contextError(found ? inside : part.name);
    }
    const { text, characters, cutAt } = boundedText(value.value, options);
    const { node, foundBy } = found;
    const facts = { reference: part.written, node, found_by: foundBy, item: value.item, characters, cut_at: cutAt };
    inserted.set(inside, defined(facts));
    values.set(inside, text);
    return text;
  });
  return {
    processed_prompt: texts.join(""),
    processed_node_values: Object.fromEntries(values),
    references: [...inserted.values()],
    missing: [...missing.values()],
  };
}

export function contextError(name: string): string {
  return `[CONTEXT_ERROR: Content for '${name}' not found in provided context_data]`;
}

interface BoundedText {
  text: string;
  characters: number;
  cutAt?: number;
}

function boundedText(value: unknown, { maxChars = defaultMaxChars, mask }: RenderOptions): BoundedText {
  const written = typeof value === "string" ? value : (JSON.stringify(value) ?? "null");
  const whole = mask ? mask(written) : written;
  if (whole.length <= maxChars) return { text: whole, characters: whole.length };
  // Cuts one character earlier if the cut would split a surrogate pair.
  const cutAt = /[\ud800-\udbff]/.test(whole[maxChars - 1] ?? "") ? maxChars - 1 : maxChars;
  const text = `${whole.slice(0, cutAt)}... [cut: ${cutAt} of ${whole.length} characters]`;
  return { text, characters: whole.length, cutAt };
}

/**
 * The data of a prompt: values by node id (`id:<node>`) and by name. `__node_mapping` maps names to node ids, and
 * `__current_node` has the id of the node of the prompt.
 */
export type ContextData = Readonly<Record<string, unknown>>;

export const mappingKey = "__node_mapping";
export const currentNodeKey = "__current_node";
export const idPrefix = "id:";

/** The longest name that may match another name that differs in case or blanks. */
const maxName = 200;

/** The rule by which a value was found: `__node_mapping`, the exact name, or a name that differs in case or blanks. */
export type FoundBy = "mapping" | "name" | "similar name";

export interface Found {
  value: unknown;
  foundBy: FoundBy;
  node?: string;
}

/** Finds values by name in the data of a prompt. It builds its index of similar names only once. */
export class Lookup {
  readonly #data: ContextData;
  readonly #mapping: ReadonlyMap<string, string>;
  #similar: Map<string, Found> | undefined;

  constructor(data: ContextData) {
    this.#data = data;
    this.#mapping = mappingOf(data);
  }

  /** Finds the value of a name. Null counts as missing, because it is the output of a node that has not run. */
  find(name: string): Found | undefined {
    return this.#byMapping(name) ?? this.#byName(name) ?? this.#bySimilarName(name);
  }

  isName(name: string): boolean {
    if (this.#mapping.has(name) || this.#at(name) !== undefined) return true;
    return name.length <= maxName && this.#names().has(normalName(name));
  }

  #byMapping(name: string): Found | undefined {
    const node = this.#mapping.get(name);
    const value = node === undefined ? undefined : this.#at(idPrefix + node);
    return value === undefined ? undefined : { value, foundBy: "mapping", node: node as string };
  }

  #byName(name: string): Found | undefined {
    const value = this.#at(name);
    if (value !== undefined) return { value, foundBy: "name" };
    const ofNode = this.#at(idPrefix + name);
    return ofNode === undefined ? undefined : { value: ofNode, foundBy: "name", node: name };
  }

  #bySimilarName(name: string): Found | undefined {
    const found = this.#names().get(normalName(name));
    return found && { ...found, foundBy: "similar name" };
  }

  /**
   * Returns the values by normalised name. If two names are equal after normalisation, a name in `__node_mapping` wins.
   */
  #names(): Map<string, Found> {
    if (this.#similar) return this.#similar;
    const names = new Map<string, Found>();
    const add = (name: string, found: Found | undefined) => {
      if (found && !names.has(normalName(name))) names.set(normalName(name), found);
    };
    for (const name of this.#mapping.keys()) add(name, this.#byMapping(name));
    for (const key of Object.keys(this.#data)) {
      add(key, this.#byName(key));
      if (key.startsWith(idPrefix)) add(key.slice(idPrefix.length), this.#byName(key.slice(idPrefix.length)));
    }
    this.#similar = names;
    return names;
  }

  #at(key: string): unknown {
    if (key === mappingKey || key === currentNodeKey || !Object.hasOwn(this.#data, key)) return undefined;
    return this.#data[key] ?? undefined;
  }
}

/** Returns the names and node ids in `__node_mapping`. Entries whose id is no text are left out. */
export function mappingOf(data: ContextData): Map<string, string> {
  const written = Object.hasOwn(data, mappingKey) ? data[mappingKey] : undefined;
  const entries = isObject(written) ? Object.entries(written) : [];
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/** A part of a node's output. `item` says how the item of a list was found, if a step names one. */
export interface Part {
  value: unknown;
  item?: ItemSource;
}

/** Finds the parts of outputs that references name. It parses each text only once, even for many references. */
export class Parts {
  readonly #lists = new Map<string, TextLists>();
  readonly #parsed = new Map<string, unknown>();

  /**
   * Follows the steps of a reference; undefined if a part is missing. Without steps, returns the node's key `output`,
   * or everything that the node set.
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

  /**
   * Parses a text that starts with `begin`, since models often answer with JSON as text. Returns undefined if the text
   * is no JSON.
   */
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

/** Returns the main value of a node: its key `output`, or everything that the node set if it has no such key. */
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
    // Parses with exact digits only if the plain value differs from the text, because that is several times slower.
    return JSON.stringify(value) === text ? value : parseExact(text);
  } catch {
    return undefined; // The text is no JSON, or it is nested too deeply.
  }
}

export type ItemSource = "label" | "json" | "bullet";

/** The items of the lists in a text, which people and models write with numbers or bullets. */
export interface TextLists {
  /** Items by their label, written `1.`, `1)` or `1:`. If a label is repeated, its first item counts. */
  numbered: ReadonlyMap<number, string>;
  bulleted: readonly string[];
}

interface Mark {
  kind: "numbered" | "bulleted";
  label: number;
  indent: number;
  start: number;
}

/**
 * Finds the lists in a text. An item ends at the next item, or at an empty line that is followed by a line without
 * indentation.
 */
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

/** Matches the start of an item: a bullet, or a label of at most six digits. */
const markPattern = /([ \t\r]*)(?:[-*+•]|(\d{1,6})[.):])(?=[ \t\r\n]|$)/y;

function markAt(text: string, start: number): Mark | undefined {
  markPattern.lastIndex = start;
  const [whole, before = "", label] = markPattern.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const kind = label === undefined ? "bulleted" : "numbered";
  return { kind, label: Number(label ?? 0), indent: before.length, start: start + whole.length };
}
