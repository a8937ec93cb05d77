import { invalid } from "../errors.ts";
import { type Path, pathText } from "./syntax.ts";

/** Refuses two paths of which one leads into, or through, what the other means. */
export function checkDistinctPaths(paths: readonly Path[]): void {
  for (const [i, one] of paths.entries()) for (const other of paths.slice(0, i)) checkPair(other, one);
}

function checkPair(one: Path, two: Path): void {
  const length = Math.min(one.length, two.length);
  for (let i = 0; i < length; i++) {
    if (typeof one[i] !== typeof two[i]) throw clash("conflict", one, two);
    if (one[i] !== two[i]) return;
  }
  throw clash("overlap", one, two);
}

function clash(how: string, one: Path, two: Path): Error {
  const paths = `path one: ${pathText(one)}, path two: ${pathText(two)}`;
  return invalid(`Two document paths ${how} with each other; must remove or rewrite one of these paths; ${paths}`);
}
