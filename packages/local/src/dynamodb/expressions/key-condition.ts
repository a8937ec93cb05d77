import { invalid, invalidParameter } from "../errors.ts";
import { type AttributeValue, contentOf, typeOf } from "../values/attribute-value.ts";
import { behindAll, encodeHash, encodeSort, type KeyElement, type KeySchema, kindOf, noBytes } from "../values/key.ts";
import type { Comparator, Condition, Operand } from "./syntax.ts";

/** What a query reads: one partition, of its sort keys those from `from` to in front of `to`. */
export interface KeyRange {
  hash: Uint8Array;
  from: Uint8Array;
  to: Uint8Array;
  /** Whether the sort key is restricted. */
  isPartial: boolean;
}

export function keyRangeOf(condition: Condition, { hash, sort }: KeySchema): KeyRange {
  const tests = keyTestsOf(condition);
  if (tests.size > 2) throw invalid("Conditions can be of length 1 or 2 only");
  const hashTest = tests.get(hash.name);
  if (!sort && tests.size > 1) throw invalid("Query key condition not supported");
  if (!hashTest) throw missed(hash);
  const sortTest = sort && tests.get(sort.name);
  if (sort && !sortTest && tests.size > 1) throw missed(sort);
  checkValues(hashTest, hash);
  if (hashTest.operator !== "=") throw invalid("Query key condition not supported");
  const partition = encodeHash(hashTest.values[0] as AttributeValue);
  if (!sort || !sortTest) return { hash: partition, from: noBytes, to: behindAll, isPartial: false };
  checkValues(sortTest, sort);
  return { hash: partition, ...boundsOf(sortTest), isPartial: true };
}

function missed({ name }: KeyElement): Error {
  return invalid(`Query condition missed key schema element: ${name}`);
}

function checkValues({ values }: KeyTest, { name, type }: KeyElement): void {
  for (const value of values) {
    if (typeOf(value) !== type) throw invalidParameter("Condition parameter type does not match schema type");
    if (contentOf(value) !== "") continue;
    const what = `The AttributeValue for a key attribute cannot contain an empty ${kindOf(type)} value. Key: ${name}`;
    throw invalid(`One or more parameter values are not valid. ${what}`);
  }
}

function boundsOf({ operator, values }: KeyTest): { from: Uint8Array; to: Uint8Array } {
  const [value, other = value] = values.map(encodeSort) as [Buffer, Buffer?];
  switch (operator) {
    case "=":
    case "between":
      return { from: value, to: behind(other) };
    case "<":
      return { from: noBytes, to: value };
    case "<=":
      return { from: noBytes, to: behind(value) };
    case ">":
      return { from: behind(value), to: behindAll };
    case ">=":
      return { from: value, to: behindAll };
    case "begins_with":
      return { from: value, to: behindPrefix(value) };
  }
}

/** The first key behind this one. */
export function behind(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}

/** The first key behind all that begin like this one. */
function behindPrefix(prefix: Uint8Array): Uint8Array {
  const last = prefix.findLastIndex((byte) => byte !== 0xff);
  if (last < 0) return behindAll;
  const next = Uint8Array.from(prefix.subarray(0, last + 1));
  next[last] = (next[last] as number) + 1;
  return next;
}

/** What a key condition says of one key attribute. */
export interface KeyTest {
  operator: Exclude<Comparator, "<>"> | "between" | "begins_with";
  values: AttributeValue[];
}

const mirrored = { "=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<=" } as const;

/** The tests that AND joins, by attribute. */
export function keyTestsOf(condition: Condition): Map<string, KeyTest> {
  const tests = new Map<string, KeyTest>();
  for (const [name, test] of collect(condition)) {
    if (tests.has(name)) throw invalid("KeyConditionExpressions must only contain one condition per key");
    tests.set(name, test);
  }
  return tests;
}

function collect(condition: Condition): [string, KeyTest][] {
  switch (condition.kind) {
    case "and":
      return [...collect(condition.left), ...collect(condition.right)];
    case "compare":
      return [comparison(condition)];
    case "between": {
      const name = first("BETWEEN", condition.value);
      return [[name, { operator: "between", values: [valueIn(condition.low), valueIn(condition.high)] }]];
    }
    case "function": {
      const [key, start] = condition.args;
      if (condition.name !== "begins_with" || !start) throw unsupported(condition.name);
      return [[first("begins_with", key), { operator: "begins_with", values: [valueIn(start)] }]];
    }
    default:
      throw unsupported(condition.kind.toUpperCase());
  }
}

function comparison({ operator, left, right }: Condition & { kind: "compare" }): [string, KeyTest] {
  if (operator === "<>") throw unsupported(operator);
  if (left.kind === "path") return [keyName(left), { operator, values: [valueIn(right)] }];
  if (right.kind === "path") return [keyName(right), { operator: mirrored[operator], values: [valueIn(left)] }];
  for (const operand of [left, right]) valueIn(operand);
  throw invalid("Invalid condition in KeyConditionExpression: No key attribute specified");
}

function first(operator: string, operand: Operand | undefined): string {
  if (operand?.kind === "path") return keyName(operand);
  const what = `${operator} operator must have the key attribute as its first operand`;
  throw invalid(`Invalid condition in KeyConditionExpression: ${what}`);
}

function keyName({ path }: Operand & { kind: "path" }): string {
  if (path.length === 1) return path[0] as string;
  throw invalid("KeyConditionExpressions cannot have conditions on nested attributes");
}

function valueIn(operand: Operand): AttributeValue {
  if (operand.kind === "value") return operand.value;
  if (operand.kind !== "path") throw invalid("KeyConditionExpressions cannot contain nested operations");
  throw invalid("Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition");
}

function unsupported(operator: string): Error {
  return invalid(`Invalid operator used in KeyConditionExpression: ${operator}`);
}
