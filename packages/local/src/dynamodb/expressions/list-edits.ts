import type { AttributeValue } from "../values/attribute-value.ts";

/**
 * What an update does to lists. Positions mean the lists as they were, whatever else is removed; a position behind the
 * end means the end.
 */
export class ListEdits {
  readonly #edits = new Map<AttributeValue[], Map<number, AttributeValue | undefined>>();

  /** Undefined removes the element. */
  note(list: AttributeValue[], position: number, value: AttributeValue | undefined): void {
    const edits = this.#edits.get(list) ?? new Map();
    this.#edits.set(list, edits.set(position, value));
  }

  apply(): void {
    for (const [list, edits] of this.#edits) {
      const kept = list.flatMap((element, position) => (edits.has(position) ? (edits.get(position) ?? []) : element));
      const behind = [...edits].filter(([position]) => position >= list.length).sort(([a], [b]) => a - b);
      list.splice(0, list.length, ...kept, ...behind.flatMap(([, value]) => value ?? []));
    }
  }
}
