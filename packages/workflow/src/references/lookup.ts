import { isObject } from "../json/value.ts";
import { normalName } from "./grammar.ts";

/**
 * Data for references: values by node id (`id:<node>`) and by name. `__node_mapping` maps names to ids.
 * `__current_node` is the node that has the prompt.
 */
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
  /** The node that holds the value, if known. */
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
