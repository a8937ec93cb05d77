import { invalid } from "../errors.ts";
import { type AttributeMap, type AttributeValue, attribute } from "../values/attribute-value.ts";
import { addNumbers } from "../values/decimal.ts";
import { lookUp, operandValue } from "./evaluate.ts";
import type { Path, Update } from "./syntax.ts";

/** Changes the item in place. All values come from the item before the update. */
export function applyUpdates(updates: Update[], item: AttributeMap): void {
  const values = updates.map((update) => newValue(update, item));
  for (const [i, { path }] of updates.entries()) write(item, path, values[i]);
}

/** Undefined: the attribute is removed. */
function newValue(update: Update, item: AttributeMap): AttributeValue | undefined {
  if (update.kind === "remove") return undefined;
  if (update.kind === "set") {
    const value = operandValue(update.value, item);
    if (value) return structuredClone(value);
    throw invalid("The provided expression refers to an attribute that does not exist in the item");
  }
  const old = lookUp(update.path, item) ?? { N: "0" };
  if ("N" in old) return { N: addNumbers(old.N, update.amount) };
  throw invalid("An operand in the update expression has an incorrect data type");
}

function write(item: AttributeMap, path: Path, value: AttributeValue | undefined): void {
  const parent = lookUp(path.slice(0, -1), item);
  const name = path.at(-1) as string;
  if (!parent || !("M" in parent)) {
    throw invalid("The document path provided in the update expression is invalid for update");
  }
  if (value === undefined && attribute(parent.M, name)) delete parent.M[name];
  const property = { value, enumerable: true, configurable: true, writable: true };
  // An assignment to `__proto__` would not create an attribute.
  if (value !== undefined) Object.defineProperty(parent.M, name, property);
}
