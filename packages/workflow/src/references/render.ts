import { defined } from "../defined.ts";
import { isObject } from "../json/exact.ts";
import { normalName, promptParts, type Reference } from "./grammar.ts";
import { type ItemSource, Parts } from "./part.ts";

/** Default limit of one inserted value, in characters. */
export const defaultMaxChars = 50_000;

export interface RenderOptions {
  maxChars?: number;
  /** Changes each value before it is inserted, to mask secrets. */
  mask?(text: string): string;
}

export interface InsertedReference {
  reference: string;
  node?: string;
  found_by: FoundBy;
  /** How a list's item was found; absent without an item step. */
  item?: ItemSource;
  /** Length of the whole value. */
  characters: number;
  /** Number of inserted characters; absent if the whole value was inserted. */
  cut_at?: number;
}

export interface MissingReference {
  reference: string;
  name: string;
  /** True if the node has a value but not this part. */
  has_node: boolean;
}

export interface RenderedPrompt {
  /** The prompt with all references replaced. `contextError` stands for a missing value. */
  processed_prompt: string;
  /** The inserted values, by reference without its braces. */
  processed_node_values: Record<string, string>;
  references: InsertedReference[];
  missing: MissingReference[];
}

/** Replaces the references of a prompt by their values. Braces inside a value are never references. */
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
    const { text, ...facts } = boundedText(value.value, options);
    inserted.set(inside, factsOf(part, found, value.item, facts));
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

function factsOf(
  { written }: Reference,
  { node, foundBy }: Found,
  item: ItemSource | undefined,
  { characters, cutAt }: Omit<BoundedText, "text">,
): InsertedReference {
  return defined({ reference: written, node, found_by: foundBy, item, characters, cut_at: cutAt });
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
  // The cut must not split a surrogate pair.
  const cutAt = /[\ud800-\udbff]/.test(whole[maxChars - 1] ?? "") ? maxChars - 1 : maxChars;
  const text = `${whole.slice(0, cutAt)}... [cut: ${cutAt} of ${whole.length} characters]`;
  return { text, characters: whole.length, cutAt };
}

/** Values by node id (`id:<node>`) and by name. `__node_mapping` maps names to ids; `__current_node` has the prompt. */
export type ContextData = Readonly<Record<string, unknown>>;

export const mappingKey = "__node_mapping";
export const currentNodeKey = "__current_node";
export const idPrefix = "id:";

/** Longer names are not compared in their normal form. */
const maxName = 200;

/** The rule that found a value: the mapping, the exact name, or a name that differs in case or blanks. */
export type FoundBy = "mapping" | "name" | "similar name";

export interface Found {
  value: unknown;
  foundBy: FoundBy;
  node?: string;
}

/** Finds values in a context. It builds its index once. */
export class Lookup {
  readonly #data: ContextData;
  readonly #mapping: ReadonlyMap<string, string>;
  #similar: Map<string, Found> | undefined;

  constructor(data: ContextData) {
    this.#data = data;
    this.#mapping = mappingOf(data);
  }

  /** Returns undefined for null as well: a node that has not run has a null output. */
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

  /** The values by normal name. Names of the mapping come first. */
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

/** Maps names to node ids. Entries that are not texts are left out. */
export function mappingOf(data: ContextData): Map<string, string> {
  const written = Object.hasOwn(data, mappingKey) ? data[mappingKey] : undefined;
  const entries = isObject(written) ? Object.entries(written) : [];
  return new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}
