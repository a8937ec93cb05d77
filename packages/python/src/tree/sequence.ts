import { type Expression, grown } from "./nodes.ts";
import type { Reader } from "./reader.ts";

/** `a, *b, c` without brackets, up to something that is neither: one expression, or a tuple of them. */
export function expressionsOf(reader: Reader): Expression {
  const items: Expression[] = [];
  let commas = 0;
  while (reader.peek() === "*" || reader.atExpression) {
    items.push(itemOf(reader));
    if (!reader.skip(",")) break;
    commas++;
  }
  const [first] = items;
  if (first && commas === 0) return first;
  return grown({ kind: "tuple" as const, items }, first?.from ?? 0, items.at(-1)?.to ?? 0, items);
}

/** One element of a list, a tuple, a set or an argument list: `*b` or an expression. */
export function itemOf(reader: Reader): Expression {
  if (reader.peek() !== "*") return reader.expression();
  const star = reader.take();
  const value = reader.expression();
  return grown({ kind: "star" as const, value }, star.from, value.to, [value]);
}

/** Marks the names and subscripts that an assignment, a loop or a `with` gives values to. */
export function storing(target: Expression): Expression {
  if (target.kind === "name" || target.kind === "subscript") target.stores = true;
  if (target.kind === "tuple" || target.kind === "list") target.items.forEach(storing);
  if (target.kind === "star") storing(target.value);
  return target;
}
