import type { Condition, Operand } from "./syntax.ts";

/** The top-level attributes that a condition looks at. */
export function namesIn(condition: Condition): Set<string> {
  const names = new Set<string>();
  collect(condition, names);
  return names;
}

function collect(node: Condition | Operand, names: Set<string>): void {
  if (node.kind === "path") names.add(String(node.path[0]));
  for (const below of partsOf(node)) collect(below, names);
}

function partsOf(node: Condition | Operand): (Condition | Operand)[] {
  switch (node.kind) {
    case "and":
    case "or":
    case "compare":
    case "sum":
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
