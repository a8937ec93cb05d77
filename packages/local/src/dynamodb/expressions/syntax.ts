import { invalid } from "../errors.ts";
import type { AttributeValue } from "../values/attribute-value.ts";

/** Attribute names and list positions; before binding a name may be a placeholder such as `#name`. */
export type Path = readonly (string | number)[];

/** A parsed operand; binding turns every placeholder into the value that it stands for. */
export type Operand =
  | { kind: "path"; path: Path }
  | { kind: "placeholder"; name: string }
  | { kind: "value"; value: AttributeValue }
  | FunctionCall;

export interface FunctionCall {
  kind: "function";
  name: string;
  args: Operand[];
}

export type Comparator = "=" | "<>" | "<" | "<=" | ">" | ">=";

export type Condition =
  | { kind: "and" | "or"; left: Condition; right: Condition }
  | { kind: "not"; condition: Condition }
  | { kind: "compare"; operator: Comparator; left: Operand; right: Operand }
  | { kind: "between"; value: Operand; low: Operand; high: Operand }
  | { kind: "in"; value: Operand; options: Operand[] }
  | FunctionCall;

export type Update =
  | { kind: "set"; path: Path; value: Operand }
  | { kind: "remove"; path: Path }
  | { kind: "add" | "delete"; path: Path; value: Operand };

export function pathText(path: Path): string {
  return `[${path.map((part) => (typeof part === "number" ? `[${part}]` : part)).join(", ")}]`;
}

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

/** Every path that a condition looks at. */
export function pathsIn(node: Condition | Operand): Path[] {
  return node.kind === "path" ? [node.path] : partsOf(node).flatMap(pathsIn);
}

function partsOf(node: Condition | Operand): (Condition | Operand)[] {
  switch (node.kind) {
    case "and":
    case "or":
    case "compare":
      return [node.left, node.right];
    case "not":
      return [node.condition];
    case "between":
      return [node.value, node.low, node.high];
    case "in":
      return [node.value, ...node.options];
    case "function":
      return node.args;
    default:
      return [];
  }
}
