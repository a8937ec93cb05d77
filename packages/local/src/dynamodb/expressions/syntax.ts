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
