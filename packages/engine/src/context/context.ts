import { type Member, valueAt } from "@nova/workflow";
import type { LinkId } from "../ports/chain.ts";

/**
 * The link that wrote a key: its number on the main line, scope and number in a branch. Branches can therefore share
 * pages.
 */
export type LinkLabel = number | string;

export function linkLabel({ scope, seq }: Omit<LinkId, "execution">): LinkLabel {
  return scope === "" ? seq : `${scope}#${seq}`;
}

/** Returns whether a link with this label is in the branch `scope`, or in a branch inside it. */
export function isWithin(label: LinkLabel, scope: string): boolean {
  return typeof label === "string" && (label.startsWith(`${scope}#`) || label.startsWith(`${scope}/`));
}

/** One top-level key: its value's JSON text, which may contain references, and the link that wrote it. */
export interface Slot extends Member {
  by: LinkLabel;
}

/** The changes of a node: values set, keys deleted. */
export interface Changes {
  set: Member[];
  delete: string[];
}

/** The data of a run at one link: a JSON object as text, in order. Immutable. */
export class Context {
  readonly #slots: ReadonlyMap<string, Slot>;

  constructor(slots: Iterable<Slot> = []) {
    this.#slots = new Map(Array.from(slots, (slot) => [slot.key, slot]));
  }

  apply(changes: Changes, by: LinkLabel): Context {
    const next = new Map(this.#slots);
    for (const key of changes.delete) next.delete(key);
    for (const { key, json } of changes.set) next.set(key, { key, json, by });
    return new Context(next.values());
  }

  without(key: string): Context {
    if (!this.#slots.has(key)) return this;
    return new Context(Array.from(this.#slots.values()).filter((slot) => slot.key !== key));
  }

  slots(): Slot[] {
    return Array.from(this.#slots.values());
  }

  slot(key: string): Slot | undefined {
    return this.#slots.get(key);
  }

  /** JSON text of the value at a dot path, without reading blobs. A key that contains dots takes precedence. */
  get(path: string): string | undefined {
    const found = this.find(path);
    return found && valueAt(found.json, found.inside);
  }

  /** The value of the key at the start of a path, and the remaining steps inside it. */
  find(path: string): { json: string; inside: string[] } | undefined {
    const steps = path.split(".");
    for (let length = steps.length; length > 0; length--) {
      const slot = this.#slots.get(steps.slice(0, length).join("."));
      if (slot) return { json: slot.json, inside: steps.slice(length) };
    }
    return undefined;
  }

  /** The members that a link set: the node's own results, `outputs[node]`. */
  writtenBy(link: LinkLabel): Member[] {
    return this.slots().filter((slot) => slot.by === link);
  }
}
