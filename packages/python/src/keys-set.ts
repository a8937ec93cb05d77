import { Lines } from "./lines.ts";
import { Program } from "./scope/program.ts";

export interface KeySet {
  key: string;
  /** From 1; columns count UTF-16 units. */
  line: number;
  column: number;
}

/**
 * Where the code sets one of these keys, spelt out: `context["key"] = ...`; each key once. `wanted` matches a key as a
 * whole.
 */
export function keysSet(source: string, wanted: RegExp): KeySet[] {
  const program = Program.read(source);
  const lines = new Lines(source);
  const found = new Map<string, KeySet>();
  for (const node of program?.nodes ?? []) {
    if (node.kind !== "subscript" || !node.stores) continue;
    const { object, index, from } = node;
    if (object.kind !== "name" || object.id !== "context" || index.kind !== "text") continue;
    const key = index.value;
    if (wanted.test(key) && !found.has(key)) found.set(key, { key, ...lines.placeOf(from) });
  }
  return Array.from(found.values());
}
