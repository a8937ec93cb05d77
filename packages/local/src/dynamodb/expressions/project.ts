import { type AttributeMap, type AttributeValue, emptyMap } from "../values/attribute-value.ts";
import type { Path } from "./syntax.ts";

/** What is wanted below a place; null: all of it. */
type Wanted = Map<string | number, Wanted | null>;

/** The parts of an item at these paths, in their places; of a list the wanted elements only, in order. */
export function project(item: AttributeMap, paths: readonly Path[]): AttributeMap {
  return pickAttributes(item, wantedBy(paths));
}

function wantedBy(paths: readonly Path[]): Wanted {
  const root: Wanted = new Map();
  for (const path of paths) {
    let at = root;
    for (const part of path.slice(0, -1)) {
      const below: Wanted = at.get(part) ?? new Map();
      at.set(part, below);
      at = below;
    }
    at.set(path.at(-1) as string | number, null);
  }
  return root;
}

function pickAttributes(map: AttributeMap, wanted: Wanted): AttributeMap {
  const picked = emptyMap();
  for (const [name, below] of wanted) {
    if (!Object.hasOwn(map, name)) continue;
    const value = pick(map[name] as AttributeValue, below);
    if (value) picked[name] = value;
  }
  return picked;
}

function pick(value: AttributeValue, wanted: Wanted | null): AttributeValue | undefined {
  if (wanted === null) return value;
  if ("M" in value) {
    const picked = pickAttributes(value.M, wanted);
    return Object.keys(picked).length > 0 ? { M: picked } : undefined;
  }
  if (!("L" in value)) return undefined;
  const positions = [...wanted.keys()].filter((part) => typeof part === "number").sort((a, b) => a - b);
  const elements = positions.flatMap((position) => {
    const element = value.L[position];
    return (element && pick(element, wanted.get(position) ?? null)) ?? [];
  });
  return elements.length > 0 ? { L: elements } : undefined;
}
