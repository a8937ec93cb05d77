import type { Request } from "../../aws-http/request.ts";
import { invalid, invalidParameter } from "../errors.ts";
import { pickPaths } from "../expressions/evaluate.ts";
import type { Update } from "../expressions/syntax.ts";
import { attributesIn, largestItemBytes, tableName } from "../request/common.ts";
import { checkKeyPaths, readExpressions } from "../request/expressions.ts";
import type { Store } from "../store/store.ts";
import type { Table } from "../store/tables.ts";
import type { AttributeMap } from "../values/attribute-value.ts";
import { elementsOf, encodeItemKey, encodeKey, type KeySchema } from "../values/key.ts";
import type { Answer } from "./answer.ts";
import { performWrite, type Write } from "./perform-write.ts";

export function putItem(store: Store, input: Request): Answer {
  const item = attributesIn(input, "Item");
  if (item.bytes > largestItemBytes) throw invalid("Item size has exceeded the maximum allowed size");
  return write(store, input, (table) => ({
    key: encodeItemKey(item.attributes, table.key),
    change: { kind: "put", item },
  }));
}

export function deleteItem(store: Store, input: Request): Answer {
  const { attributes } = attributesIn(input, "Key");
  return write(store, input, (table) => ({ key: encodeKey(attributes, table.key), change: { kind: "delete" } }));
}

function write(store: Store, input: Request, read: (table: Table) => Pick<Write, "key" | "change">): Answer {
  const name = tableName(input);
  if (returnValues(input) !== "NONE")
    throw invalid("The local DynamoDB answers no item that is put or deleted - leave ReturnValues out");
  const expressions = readExpressions(input, ["ConditionExpression"]);
  const table = store.tables.get(name);
  const { key, change } = read(table);
  checkKeyPaths(table, expressions);
  const condition = expressions.ConditionExpression;
  performWrite(store, { table, key, condition, change });
  return {};
}

export function updateItem(store: Store, input: Request): Answer {
  const name = tableName(input);
  const wanted = returnValues(input);
  const keyAttributes = attributesIn(input, "Key").attributes;
  const expressions = readExpressions(input, ["UpdateExpression", "ConditionExpression"]);
  const { UpdateExpression: updates = [], ConditionExpression: condition } = expressions;
  const table = store.tables.get(name);
  const key = encodeKey(keyAttributes, table.key);
  checkNoKey(updates, table.key);
  checkKeyPaths(table, expressions);
  const change = { kind: "update", updates, keyAttributes } as const;
  const next = performWrite(store, { table, key, condition, change });
  if (wanted === "NONE" || !next) return {};
  return { Attributes: wanted === "ALL_NEW" ? next : pickTouched(next, updates) };
}

function pickTouched(item: AttributeMap, updates: Update[]): AttributeMap | undefined {
  const paths = updates.map(({ path }) => path);
  const attributes = pickPaths(item, paths);
  return Object.keys(attributes).length > 0 ? attributes : undefined;
}

function checkNoKey(updates: Update[], schema: KeySchema): void {
  for (const { name } of elementsOf(schema)) {
    if (!updates.some(({ path }) => path[0] === name)) continue;
    throw invalidParameter(`Cannot update attribute ${name}. This attribute is part of the key`);
  }
}

function returnValues(input: Request) {
  return input.choice("ReturnValues", ["ALL_NEW", "NONE", "UPDATED_NEW"]) ?? "NONE";
}
