import { invalid } from "../errors.ts";
import type { AttributeValue } from "../values/attribute-value.ts";

/** The place of a value in an item: names of attributes, the outermost first. */
export type Path = readonly string[];

export type Operand = { kind: "path"; path: Path } | { kind: "value"; value: AttributeValue };

export type Comparator = "=" | "<>" | "<" | "<=" | ">" | ">=";

export type Condition =
  | { kind: "and" | "or"; left: Condition; right: Condition }
  | { kind: "compare"; operator: Comparator; left: Operand; right: Operand }
  | { kind: "between"; value: Operand; low: Operand; high: Operand }
  | { kind: "exists" | "absent"; path: Path }
  | { kind: "begins_with"; value: Operand; part: Operand };

export type Update =
  | { kind: "set"; path: Path; value: Operand }
  | { kind: "remove"; path: Path }
  | { kind: "add"; path: Path; amount: string };

/** Throws if two paths are equal, or if one of them leads into the value of the other. */
export function checkDistinctPaths(paths: readonly Path[]): void {
  for (const [i, one] of paths.entries()) {
    const other = paths.slice(0, i).find((two) => two.every((part, at) => at >= one.length || part === one[at]));
    if (!other) continue;
    const [first, second] = [other, one].map((path) => `[${path.join(", ")}]`);
    const what = "Two document paths overlap with each other; must remove or rewrite one of these paths";
    throw invalid(`${what}; path one: ${first}, path two: ${second}`);
  }
}
