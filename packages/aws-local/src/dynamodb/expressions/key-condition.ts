import { invalid, invalidParameter } from "../errors.ts";
import { type AttributeValue, typeOf } from "../values/attribute-value.ts";
import {
  encodeHash,
  encodeSort,
  type KeyElement,
  type KeySchema,
  lastKey,
  noBytes,
  refuseEmpty,
  type SortKeyRange,
} from "../values/key.ts";
import type { Comparator, Condition, Operand } from "./syntax.ts";

/** The keys that a query reads. */
export interface KeyRange extends SortKeyRange {
  /** Whether the condition restricts the sort key. */
  isPartial: boolean;
}

export function keyRangeOf(condition: Condition, { hash, sort }: KeySchema): KeyRange {
  const tests = testsOf(condition);
  const hashTest = tests.find(({ name }) => name === hash.name);
  const sortTest = tests.find(({ name }) => name === sort?.name);
  if (!hashTest) throw missingKey(hash);
  if (sort && !sortTest && tests.length > 1) throw missingKey(sort);
  if (hashTest.operator !== "=" || tests.length > (sortTest ? 2 : 1))
    throw invalid("Query key condition not supported");
  checkValues(hashTest, hash);
  const partition = encodeHash(hashTest.values[0] as AttributeValue);
  if (!sort || !sortTest) return { hash: partition, from: noBytes, to: lastKey, isPartial: false };
  checkValues(sortTest, sort);
  return { hash: partition, ...boundsOf(sortTest), isPartial: true };
}

function missingKey({ name }: KeyElement): Error {
  return invalid(`Query condition missed key schema element: ${name}`);
}

function checkValues({ values }: KeyTest, { name, type }: KeyElement): void {
  for (const value of values) {
    if (typeOf(value) !== type) throw invalidParameter("Condition parameter type does not match schema type");
    refuseEmpty(value, name);
  }
}

function boundsOf({ operator, values }: KeyTest): Omit<SortKeyRange, "hash"> {
  const [value, other = value] = values.map(encodeSort) as [Buffer, Buffer?];
  switch (operator) {
    case "=":
    case "between":
      return { from: value, to: keyAfter(other) };
    case "<":
      return { from: noBytes, to: value };
    case "<=":
      return { from: noBytes, to: keyAfter(value) };
    case ">":
      return { from: keyAfter(value), to: lastKey };
    case ">=":
      return { from: value, to: lastKey };
    case "begins_with":
      return { from: value, to: keyAfterPrefix(value) };
  }
}

/** Returns the smallest possible key that sorts after `key`. */
export function keyAfter(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}

/** Returns the smallest possible key that sorts after all keys with this prefix. */
function keyAfterPrefix(prefix: Uint8Array): Uint8Array {
  const last = prefix.findLastIndex((byte) => byte !== 0xff);
  if (last < 0) return lastKey;
  const next = Uint8Array.from(prefix.subarray(0, last + 1));
  next[last] = (next[last] as number) + 1;
  return next;
}

/** The part of a key condition that restricts one key attribute. */
interface KeyTest {
  name: string;
  operator: Exclude<Comparator, "<>"> | "between" | "begins_with";
  values: AttributeValue[];
}

function testsOf(condition: Condition): KeyTest[] {
  if (condition.kind === "and") return [...testsOf(condition.left), ...testsOf(condition.right)];
  if (condition.kind === "between") return [keyTest("between", condition.value, condition.low, condition.high)];
  if (condition.kind === "begins_with") return [keyTest("begins_with", condition.value, condition.part)];
  if (condition.kind === "compare" && condition.operator !== "<>") {
    return [keyTest(condition.operator, condition.left, condition.right)];
  }
  const operator = condition.kind === "compare" ? condition.operator : condition.kind;
  throw invalid(`Invalid operator used in KeyConditionExpression: ${operator}`);
}

function keyTest(operator: KeyTest["operator"], key: Operand, ...operands: Operand[]): KeyTest {
  const values = operands.flatMap((operand) => (operand.kind === "value" ? operand.value : []));
  if (key.kind === "path" && key.path.length === 1 && values.length === operands.length) {
    return { name: key.path[0] as string, operator, values };
  }
  const what = "a key attribute must be compared with values, and stand in front of them";
  throw invalid(`Invalid condition in KeyConditionExpression: ${what}`);
}
