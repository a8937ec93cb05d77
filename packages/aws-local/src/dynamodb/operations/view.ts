import { AwsError } from "../../aws-http/aws-error.ts";
import type { Request } from "../../aws-http/request.ts";
import { invalid } from "../errors.ts";
import { isTrue, pickPaths } from "../expressions/evaluate.ts";
import { nameLimits, optionalAttributes, tableName } from "../request/common.ts";
import { checkKeyPaths, type ExpressionField, readExpressions } from "../request/expressions.ts";
import { type Entry, itemKeyOf } from "../store/entries.ts";
import type { StoredItem } from "../store/items.ts";
import type { Store } from "../store/store.ts";
import { type Index, positionNames, type Table } from "../store/tables.ts";
import { type AttributeMap, attribute } from "../values/attribute-value.ts";
import { type EncodedKey, elementsOf, encodeKey, type KeySchema, noBytes } from "../values/key.ts";
import { type Answer, jsonList } from "./answer.ts";

/** The table, index, filter, paths, start key and limit of a query or scan. */
export type View = ReturnType<typeof readView>["view"];

export function readView(store: Store, input: Request, fields: readonly ExpressionField[]) {
  const name = tableName(input);
  const indexName = input.optionalText("IndexName", nameLimits);
  const isConsistent = input.flag("ConsistentRead") ?? false;
  const limit = input.number("Limit", { least: 1 });
  const startKey = optionalAttributes(input, "ExclusiveStartKey")?.attributes;
  const expressions = readExpressions(input, fields);
  const { FilterExpression: filter, ProjectionExpression: paths } = expressions;
  const table = store.tables.get(name);
  const index = indexName === undefined ? undefined : indexOf(table, indexName, isConsistent);
  checkKeyPaths(table, expressions);
  return { view: { limit, table, index, startKey, filter, paths }, expressions };
}

function indexOf(table: Table, name: string, isConsistent: boolean): Index {
  const index = table.indexes.find((one) => one.name === name);
  if (!index) throw invalid(`The table does not have the specified index: ${name}`);
  if (!isConsistent) return index;
  throw invalid("Consistent reads are not supported on global secondary indexes");
}

/** DynamoDB ends a page with the item with which the page reaches 1 MB. Items that the filter drops count, too. */
const pageBytes = 1024 * 1024;

/** Reads rows until the page is full. `Limit` counts the rows that were read, not those that pass the filter. */
export function readPage(view: View, rows: Iterable<StoredItem>): Answer {
  const { limit = Number.POSITIVE_INFINITY } = view;
  const shown: string[] = [];
  let [scanned, bytes] = [0, 0];
  let last: StoredItem | undefined;
  for (const row of rows) {
    const text = selectFromRow(view, row);
    scanned++;
    bytes += row.bytes;
    if (text !== undefined) shown.push(text);
    if (scanned < limit && bytes < pageBytes) continue;
    last = row;
    break;
  }
  return {
    Items: jsonList(shown),
    Count: shown.length,
    ScannedCount: scanned,
    LastEvaluatedKey: last && positionOf(view, JSON.parse(last.item)),
  };
}

/**
 * Returns the item of a row as JSON text. If the view has paths, the text contains only the values at these paths.
 * Returns undefined if the filter drops the row. Does not parse the row if the view has no filter and no paths.
 */
function selectFromRow({ filter, paths }: View, { item }: StoredItem): string | undefined {
  if (!filter && !paths) return item;
  const whole: AttributeMap = JSON.parse(item);
  if (filter && !isTrue(filter, whole)) return undefined;
  return paths ? JSON.stringify(pickPaths(whole, paths)) : item;
}

function positionOf({ table, index }: View, item: AttributeMap): AttributeMap {
  const paths = positionNames(table, index).map((name) => [name]);
  return pickPaths(item, paths);
}

/** An entry that sorts before all others. */
export const beginning: Entry = { hash: noBytes, sort: noBytes, itemKey: noBytes };

/** Reads the ExclusiveStartKey of a request, after which the page starts. Returns undefined if the request has none. */
export function startOf({ table, index, startKey }: View): Entry | undefined {
  if (!startKey) return undefined;
  const names = positionNames(table, index);
  if (Object.keys(startKey).length !== names.length || !names.every((name) => attribute(startKey, name))) {
    const why = index ? "" : ": The provided key element does not match the schema";
    throw invalid(`The provided starting key is invalid${why}`);
  }
  const itemKey = itemKeyOf(part(startKey, table.key));
  return { ...part(startKey, index?.key ?? table.key), itemKey };
}

function part(startKey: AttributeMap, schema: KeySchema): EncodedKey {
  const key = Object.fromEntries(elementsOf(schema).map(({ name }) => [name, attribute(startKey, name)]));
  try {
    return encodeKey(key as AttributeMap, schema);
  } catch (error) {
    if (!(error instanceof AwsError)) throw error;
    throw invalid(`The provided starting key is invalid: ${error.message}`);
  }
}
