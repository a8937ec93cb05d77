import { type Finding, finding } from "../findings/finding.ts";
import { at } from "../findings/text.ts";
import { normalName } from "../references/grammar.ts";
import type { NamedNode, Outline } from "./outline.ts";

/** Finds ids of nodes by the names that references may use: the nodes' names and ids. */
export class NodeNames {
  readonly #exact = new Map<string, Set<string>>();
  readonly #normal = new Map<string, Set<string>>();

  constructor(outlines: readonly Outline[]) {
    for (const { id, node } of outlines.flatMap(({ nodes }) => nodes)) {
      for (const name of node?.name === undefined ? [id] : [id, node.name]) {
        add(this.#exact, name, id);
        add(this.#normal, normalName(name), id);
      }
    }
  }

  /** Returns the nodes with this name, or else those whose names differ only in case and blanks. */
  idsOf(name: string): ReadonlySet<string> {
    return this.#exact.get(name) ?? this.#normal.get(normalName(name)) ?? new Set();
  }

  /** Returns all names of these nodes. */
  of(ids: ReadonlySet<string>): string[] {
    return [...this.#exact].flatMap(([name, own]) => ([...own].some((id) => ids.has(id)) ? [name] : []));
  }
}

function add(names: Map<string, Set<string>>, name: string, id: string): void {
  names.set(name, (names.get(name) ?? new Set()).add(id));
}

/** NOVA116: names that a reference could confuse. */
export function* checkNodeNames(outlines: readonly Outline[]): Iterable<Finding> {
  const nodes = outlines.flatMap(({ nodes }) => nodes);
  const taken = new Map<string, NamedNode>(nodes.map((node) => [normalName(node.id), node]));
  for (const node of nodes) {
    if (node.node?.name === undefined || normalName(node.node.name) === "") continue;
    const name = normalName(node.node.name);
    const other = taken.get(name);
    if (!other) taken.set(name, node);
    else if (other !== node) {
      const message = `the name ${JSON.stringify(node.node.name)} of "${node.id}" is one of "${other.id}", too: references in prompts could mean both - give each node its own name`;
      yield finding("NOVA116", at(node.path, "name"), message);
    }
  }
}
