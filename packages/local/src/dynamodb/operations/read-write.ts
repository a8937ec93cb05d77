import { invalid, invalidParameter } from "../errors.ts";
import type { Update } from "../expressions/syntax.ts";
import { largestItemBytes, tableName } from "../request/common.ts";
import { readExpressions } from "../request/expressions.ts";
import type { Input } from "../request/input.ts";
import type { Store } from "../store/store.ts";
import { elementsOf, encodeItemKey, encodeKey, type KeySchema } from "../values/key.ts";
import { checkKeyPaths } from "./check-paths.ts";
import type { Write } from "./write.ts";

export function readPut(store: Store, input: Input): Write {
  const name = tableName(input);
  const item = input.attributes("Item");
  if (item.bytes > largestItemBytes) throw invalid("Item size has exceeded the maximum allowed size");
  const { ConditionExpression: condition } = readExpressions(input, ["ConditionExpression"]);
  const table = store.tables.get(name);
  const key = encodeItemKey(item.attributes, table.key);
  checkKeyPaths(table, condition);
  return { table, key, condition, showsOld: showsOld(input), change: { kind: "put", item } };
}

export function readDelete(store: Store, input: Input): Write {
  const { condition, ...at } = readPlace(store, input);
  return { ...at, condition, showsOld: showsOld(input), change: { kind: "delete" } };
}

export function readUpdate(store: Store, input: Input): Write {
  const name = tableName(input);
  const keyAttributes = input.attributes("Key").attributes;
  const fields = ["UpdateExpression", "ConditionExpression"] as const;
  const { UpdateExpression: updates = [], ConditionExpression: condition } = readExpressions(input, fields);
  const table = store.tables.get(name);
  const key = encodeKey(keyAttributes, table.key);
  checkNoKey(updates, table.key);
  const paths = updates.map(({ path }) => path);
  checkKeyPaths(table, condition, paths);
  const change = { kind: "update", updates, keyAttributes } as const;
  return { table, key, condition, showsOld: showsOld(input), change };
}

function readPlace(store: Store, input: Input) {
  const name = tableName(input);
  const { attributes } = input.attributes("Key");
  const { ConditionExpression: condition } = readExpressions(input, ["ConditionExpression"]);
  const table = store.tables.get(name);
  const key = encodeKey(attributes, table.key);
  checkKeyPaths(table, condition);
  return { table, key, condition };
}

function showsOld(input: Input): boolean {
  return input.choice("ReturnValuesOnConditionCheckFailure", ["ALL_OLD", "NONE"]) === "ALL_OLD";
}

function checkNoKey(updates: Update[], schema: KeySchema): void {
  for (const { name } of elementsOf(schema)) {
    if (!updates.some(({ path }) => path[0] === name)) continue;
    throw invalidParameter(`Cannot update attribute ${name}. This attribute is part of the key`);
  }
}
