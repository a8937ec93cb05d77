import { invalid } from "../errors.ts";
import { type AttributeMap, type AttributeValue, attribute, membersOf, typeOf } from "../values/attribute-value.ts";
import { addNumbers } from "../values/decimal.ts";
import { lookUp } from "./evaluate.ts";
import type { Operand, Path, Update } from "./syntax.ts";

/** Changes the item in place. Every value is taken from the item as it was before. */
export function applyUpdates(updates: Update[], item: AttributeMap): void {
  const lists = new ListEdits();
  const values = updates.map((update) => newValue(update, item));
  for (const [i, { path }] of updates.entries()) write(item, path, values[i], lists);
  lists.apply();
}

/** Undefined: what is there goes away. */
function newValue(update: Update, item: AttributeMap): AttributeValue | undefined {
  switch (update.kind) {
    case "set":
      return structuredClone(operandValue(update.value, item));
    case "remove":
      return undefined;
    case "add":
      return added(lookUp(update.path, item), operandValue(update.value, item));
    case "delete":
      return without(lookUp(update.path, item), operandValue(update.value, item));
  }
}

function operandValue(operand: Operand, item: AttributeMap): AttributeValue {
  if (operand.kind === "value") return operand.value;
  if (operand.kind === "path") return lookUp(operand.path, item) ?? missing();
  throw new TypeError(`an operand of kind ${operand.kind} cannot be evaluated - it was not bound`);
}

function added(old: AttributeValue | undefined, amount: AttributeValue): AttributeValue {
  if (old === undefined) return amount;
  if ("N" in old && "N" in amount) return { N: addNumbers(old.N, amount.N) };
  const [members, more] = setsOf(old, amount);
  return { [typeOf(old)]: [...new Set([...members, ...more])] } as AttributeValue;
}

function without(old: AttributeValue | undefined, amount: AttributeValue): AttributeValue | undefined {
  if (old === undefined) return undefined;
  const [members, gone] = setsOf(old, amount);
  const left = members.filter((member) => !gone.includes(member));
  return left.length > 0 ? ({ [typeOf(old)]: left } as AttributeValue) : undefined;
}

function setsOf(old: AttributeValue, amount: AttributeValue): [string[], string[]] {
  const [members, others] = [membersOf(old), membersOf(amount)];
  if (!members || !others || typeOf(old) !== typeOf(amount)) throw wrongType();
  return [members, others];
}

function write(item: AttributeMap, path: Path, value: AttributeValue | undefined, lists: ListEdits): void {
  const parent = lookUp(path.slice(0, -1), item);
  const last = path.at(-1) as string | number;
  if (parent && "L" in parent && typeof last === "number") lists.note(parent.L, last, value);
  else if (parent && "M" in parent && typeof last === "string") writeAttribute(parent.M, last, value);
  else throw invalid("The document path provided in the update expression is invalid for update");
}

function writeAttribute(map: AttributeMap, name: string, value: AttributeValue | undefined): void {
  if (value === undefined && attribute(map, name)) delete map[name];
  const property = { value, enumerable: true, configurable: true, writable: true };
  // An assignment to `__proto__` would not make an attribute.
  if (value !== undefined) Object.defineProperty(map, name, property);
}

function missing(): never {
  throw invalid("The provided expression refers to an attribute that does not exist in the item");
}

function wrongType(): Error {
  return invalid("An operand in the update expression has an incorrect data type");
}

/**
 * What an update does to lists. Positions mean the lists as they were, whatever else is removed; a position behind the
 * end means the end.
 */
export class ListEdits {
  readonly #edits = new Map<AttributeValue[], Map<number, AttributeValue | undefined>>();

  /** Undefined removes the element. */
  note(list: AttributeValue[], position: number, value: AttributeValue | undefined): void {
    const edits = this.#edits.get(list) ?? new Map();
    this.#edits.set(list, edits.set(position, value));
  }

  apply(): void {
    for (const [list, edits] of this.#edits) {
      const kept = list.flatMap((element, position) => (edits.has(position) ? (edits.get(position) ?? []) : element));
      const behind = [...edits].filter(([position]) => position >= list.length).sort(([a], [b]) => a - b);
      list.splice(0, list.length, ...kept, ...behind.flatMap(([, value]) => value ?? []));
    }
  }
}
