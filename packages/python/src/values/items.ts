import type { Type } from "../known/types.ts";
import type { Program } from "../scope/program.ts";
import type { Expression, Node } from "../tree/nodes.ts";

/** Tells the types of expressions. */
interface Types {
  of(expression: Expression): Type | undefined;
}

/** Methods whose answer is gone through, by the type that has them. */
const steps: Readonly<Record<string, Type>> = {
  "Pattern.finditer": "Match",
  "Path.glob": "Path",
  "Path.rglob": "Path",
  "Path.iterdir": "Path",
  "Message.walk": "Message",
};

/** The type of everything that a loop takes out of a value; undefined where some of it may be something else. */
export function itemType(types: Types, program: Program, iterable: Expression): Type | undefined {
  switch (iterable.kind) {
    case "list":
    case "tuple":
    case "set":
      return agreed(iterable.items.map((item) => types.of(item)));
    case "comprehension":
      return iterable.form === "dict" ? undefined : types.of(iterable.element);
    case "name":
      return ofName(types, program, iterable);
    case "call":
      return ofCall(types, program, iterable);
    default:
      return undefined;
  }
}

function ofCall(types: Types, program: Program, call: Expression & { kind: "call" }): Type | undefined {
  const { callee, args } = call;
  const path = program.importPath(callee);
  if (path === "re.finditer") return "Match";
  if (path !== undefined && /^builtins\.(list|tuple|sorted|reversed|set|iter)$/.test(path)) {
    const [first] = args;
    return first && first.stars === 0 ? itemType(types, program, first.value) : undefined;
  }
  return callee.kind === "attribute" ? steps[`${types.of(callee.object)}.${callee.name}`] : undefined;
}

/** A list that nothing is put into later. */
function ofName(types: Types, program: Program, name: Expression & { kind: "name" }): Type | undefined {
  const [only, ...others] = program.reaching(name);
  if (only?.origin.kind !== "value" || others.length > 0) return undefined;
  const isOnlyRead = program.loadsOf(name.id).every(({ parent }) => parent?.kind !== "attribute" && !isStored(parent));
  return isOnlyRead ? itemType(types, program, only.origin.value) : undefined;
}

/** `rows[0] = x`, `del rows[0]`, `rows[0] += x`. */
function isStored(node: Node | null): boolean {
  return node?.kind === "subscript" && (node.stores || node.parent?.kind === "delete");
}

function agreed(types: readonly (Type | undefined)[]): Type | undefined {
  const [first, ...others] = types;
  return others.every((other) => other === first) ? first : undefined;
}
