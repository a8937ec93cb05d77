import type { Expression, FunctionStatement, Handler, Node, Param, Statement } from "../tree/nodes.ts";

/** The source of a name's value. */
export type Origin =
  /** NOVA provides the name: `context`, `outputs`, `tasks`. */
  | { kind: "provided" }
  | { kind: "value"; value: Expression }
  /** An item of a loop, or a part of an unpacked value. */
  | { kind: "item" | "part"; of: Expression }
  | { kind: "with"; value: Expression }
  | { kind: "param"; param: Param; index: number; holder: FunctionStatement | (Expression & { kind: "lambda" }) }
  | { kind: "import"; path: string }
  | { kind: "function"; node: FunctionStatement }
  | { kind: "class"; node: Statement & { kind: "class" } }
  | { kind: "handler"; node: Handler }
  | { kind: "match"; subject: Expression }
  /** `x += 1` changes the value, `x: int` gives none. */
  | { kind: "augment" | "declared" };

/** Python looks names up in the module, in a class, a function or a comprehension. */
export interface Scope {
  node: Node;
  parent: Scope | null;
  isClass: boolean;
  bindings: Map<string, Binding[]>;
  /** Names that belong to the module or to an enclosing function. */
  elsewhere: Map<string, "global" | "nonlocal">;
}

export interface Binding {
  name: string;
  scope: Scope;
  origin: Origin;
  node: Node;
  /** The offset of the name. */
  from: number;
}

/** Lists the names that a target binds, each with its origin. */
export function* targetNames(target: Expression, value: Origin): Iterable<{ node: Expression; origin: Origin }> {
  if (target.kind === "name") yield { node: target, origin: value };
  if (target.kind === "star") yield* targetNames(target.value, somePartOf(value));
  if (target.kind !== "tuple" && target.kind !== "list") return;
  for (const [index, item] of target.items.entries()) yield* targetNames(item, partOf(value, index, target.items));
}

function partOf(origin: Origin, index: number, targets: readonly Expression[]): Origin {
  if (origin.kind === "value" && isPlain(targets)) {
    const { value } = origin;
    const isDisplay = value.kind === "tuple" || value.kind === "list";
    const item = isDisplay && isPlain(value.items) ? value.items[index] : undefined;
    if (item) return { kind: "value", value: item };
  }
  return somePartOf(origin);
}

function isPlain(items: readonly Expression[]): boolean {
  return items.every(({ kind }) => kind !== "star");
}

/** Some unknown part of the value. */
function somePartOf(origin: Origin): Origin {
  if (origin.kind === "value" || origin.kind === "with") return { kind: "part", of: origin.value };
  return origin.kind === "item" ? { kind: "part", of: origin.of } : origin;
}
