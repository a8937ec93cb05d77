import { reachableFrom } from "../graph/reach.ts";
import type { GivenKeys } from "./given-keys.ts";
import type { KeyReader } from "./keys-of-code.ts";
import type { NamedNode, Outline } from "./outline.ts";

/** Which keys may be in the context when a node of a body begins. */
export class KeysBefore {
  readonly #outline: Outline;
  readonly #given: GivenKeys;
  /** Of a map's body: of the nodes around the map. */
  readonly #around: KeysBefore | undefined;
  readonly #setters = new Map<string, string[]>();
  /** Nodes that may set keys of which nobody knows. */
  readonly #open: string[] = [];
  readonly #behind = new Map<string, ReadonlySet<string>>();

  constructor(outline: Outline, reader: KeyReader, given: GivenKeys, around?: KeysBefore) {
    this.#around = around;
    this.#outline = outline;
    this.#given = given;
    for (const node of outline.nodes) {
      const sets = keysSetBy(node, reader);
      if (sets === null) this.#open.push(node.id);
      for (const key of sets ?? []) this.#setters.set(key, [...(this.#setters.get(key) ?? []), node.id]);
    }
  }

  has(key: string, id: string): boolean {
    return this.#given.keys.has(key) || this.#isBehind(`key ${key}`, this.settersOf(key), id);
  }

  isOpenAt(id: string): boolean {
    return this.#given.isOpen || this.#isBehind("open", this.#open, id);
  }

  at(id: string): string[] {
    return [...this.#given.keys, ...[...this.#setters.keys()].filter((key) => this.has(key, id))];
  }

  settersOf(key: string): readonly string[] {
    return this.#setters.get(key) ?? [];
  }

  /** Whether some way leads from the other node to the node, or to the map that it is in. */
  mayRunBefore(other: string, id: string): boolean {
    const map = this.#outline.map?.id ?? "";
    return this.#isBehind(`node ${other}`, [other], id) || this.#around?.mayRunBefore(other, map) === true;
  }

  /** Whether some way leads from one of these nodes to the node, itself among them where a loop does. */
  #isBehind(name: string, ids: readonly string[], id: string): boolean {
    if (ids.length === 0) return false;
    const known = this.#behind.get(name);
    if (known) return known.has(id);
    const next = ids.flatMap((each) => this.#outline.graph.successors.get(each) ?? []);
    const behind = reachableFrom(this.#outline.graph, next);
    this.#behind.set(name, behind);
    return behind.has(id);
  }
}

/** Null where it may set keys of which nobody knows. */
function keysSetBy({ node, python }: NamedNode, reader: KeyReader): Iterable<string> | null {
  switch (node?.type) {
    case "start":
    case "end":
      return [];
    case "map":
    case "approval":
      return [node.into];
    case "wait":
      return node.for.kind === "event" ? [node.for.into] : [];
    case "workflow":
      return Object.keys(node.output);
    default: {
      const code = python && reader.codeKeys(python.code);
      return !code || code.setsMore ? null : code.sets;
    }
  }
}
