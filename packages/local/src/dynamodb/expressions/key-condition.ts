import { invalid, invalidParameter } from "../errors.ts";
import { type AttributeValue, contentOf, typeOf } from "../values/attribute-value.ts";
import { behindAll, encodeHash, encodeSort, type KeyElement, type KeySchema, kindOf, noBytes } from "../values/key.ts";
import { type KeyTest, keyTestsOf } from "./key-tests.ts";
import type { Condition } from "./syntax.ts";

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
