import { type AttributeMap, emptyMap } from "../values/attribute-value.ts";
import { lookUp } from "./evaluate.ts";
import type { Path } from "./syntax.ts";

/** The parts of an item at these paths. */
export function project(item: AttributeMap, paths: readonly Path[]): AttributeMap {
  const picked = emptyMap();
  for (const path of paths) {
    const value = lookUp(path, item);
    if (!value) continue;
    let map = picked;
    for (const part of path.slice(0, -1)) {
      map[part] ??= { M: emptyMap() };
      map = (map[part] as { M: AttributeMap }).M;
    }
    map[path.at(-1) as string] = value;
  }
  return picked;
}
