import type { Condition, Operand, Path } from "./syntax.ts";

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
