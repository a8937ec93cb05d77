import { invalid, invalidParameter } from "../errors.ts";
import { project } from "../expressions/project.ts";
import type { Path, Update } from "../expressions/syntax.ts";
import { largestItemBytes, tableName } from "../request/common.ts";
import { readExpressions } from "../request/expressions.ts";
import type { Input } from "../request/input.ts";
import type { Store } from "../store/store.ts";
import type { AttributeMap } from "../values/attribute-value.ts";
import { elementsOf, encodeItemKey, encodeKey, type KeySchema } from "../values/key.ts";
import { type Answer, JsonText } from "./answer.ts";
import { checkKeyPaths } from "./check-paths.ts";
import { performWrite, type Write, type Written } from "./perform-write.ts";

export function putItem(store: Store, input: Input): Answer {
  const isOldWanted = returnsOld(input);
  const write = readPut(store, input);
  const { old } = performWrite(store, write);
  return { Attributes: isOldWanted && old ? new JsonText(old.item) : undefined };
}

export function deleteItem(store: Store, input: Input): Answer {
  const isOldWanted = returnsOld(input);
  const write = readDelete(store, input);
  const { old } = performWrite(store, write);
  return { Attributes: isOldWanted && old ? new JsonText(old.item) : undefined };
}

export function updateItem(store: Store, input: Input): Answer {
  const wanted = returnValues(input);
  const write = readUpdate(store, input);
  const written = performWrite(store, write);
  return { Attributes: returned(wanted, write, written) };
}

function returned(wanted: ReturnValues, { change }: Write, { old, next }: Written): unknown {
  const paths = change.kind === "update" ? change.updates.map(({ path }) => path) : [];
  switch (wanted) {
    case "NONE":
      return undefined;
    case "ALL_OLD":
      return old && new JsonText(old.item);
    case "ALL_NEW":
      return next;
    case "UPDATED_OLD":
      return old && touched(JSON.parse(old.item), paths);
    case "UPDATED_NEW":
      return next && touched(next, paths);
  }
}

function touched(item: AttributeMap, paths: Path[]): AttributeMap | undefined {
  const attributes = project(item, paths);
  return Object.keys(attributes).length > 0 ? attributes : undefined;
}

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

const all = ["ALL_NEW", "UPDATED_OLD", "ALL_OLD", "NONE", "UPDATED_NEW"] as const;

export type ReturnValues = (typeof all)[number];

export function returnValues(input: Input): ReturnValues {
  return input.choice("ReturnValues", all) ?? "NONE";
}

/** Whether a put or a delete answers the item that was there. */
export function returnsOld(input: Input): boolean {
  const wanted = returnValues(input);
  if (wanted === "ALL_OLD" || wanted === "NONE") return wanted === "ALL_OLD";
  throw invalid("ReturnValues can only be ALL_OLD or NONE");
}
