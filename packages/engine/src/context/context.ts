import { type Member, valueAt } from "@nova/workflow";
import type { LinkId } from "../ports/chain.ts";

/** Who wrote a key: the link's number on the main line, its scope too in a branch, so that scopes can share pages. */
export type LinkLabel = number | string;

export function linkLabel({ scope, seq }: Omit<LinkId, "execution">): LinkLabel {
  return scope === "" ? seq : `${scope}#${seq}`;
}

/** Whether a link with this label is in a branch, or in a branch inside of that. */
export function isWithin(label: LinkLabel, scope: string): boolean {
  return typeof label === "string" && (label.startsWith(`${scope}#`) || label.startsWith(`${scope}/`));
}

/** One top-level key: its value's JSON text (references inside), and the link that wrote it. */
export interface Slot extends Member {
  by: LinkLabel;
}

/** What a node adds: values set, keys deleted. */
export interface Changes {
  set: Member[];
  delete: string[];
}

/** What a run knows at one link: a JSON object as text, in order. Immutable. */
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

  /** JSON text of the value at a dot path, not inside of blobs; a key that contains dots wins. */
  get(path: string): string | undefined {
    const found = this.find(path);
    return found && valueAt(found.json, found.inside);
  }

  /** The value of the key that a path begins with, and the way on inside of it. */
  find(path: string): { json: string; inside: string[] } | undefined {
    const steps = path.split(".");
    for (let length = steps.length; length > 0; length--) {
      const slot = this.#slots.get(steps.slice(0, length).join("."));
      if (slot) return { json: slot.json, inside: steps.slice(length) };
    }
    return undefined;
  }

  /** What a link set: the node's own results, `outputs[node]`. */
  writtenBy(link: LinkLabel): Member[] {
    return this.slots().filter((slot) => slot.by === link);
  }
}
