import type { Request } from "../../aws-http/request.ts";
import { invalid } from "../errors.ts";
import { pickPaths } from "../expressions/evaluate.ts";
import { type KeyRange, keyAfter, keyRangeOf } from "../expressions/key-condition.ts";
import type { Path } from "../expressions/syntax.ts";
import { attributesIn, tableName } from "../request/common.ts";
import { checkKeyPaths, readExpressions } from "../request/expressions.ts";
import type { Entry } from "../store/entries.ts";
import type { StoredItem } from "../store/items.ts";
import type { Store } from "../store/store.ts";
import { elementsOf, encodeKey, type KeySchema, lastKey } from "../values/key.ts";
import { type Answer, JsonText } from "./answer.ts";
import { beginning, readPage, readView, startOf, type View } from "./view.ts";

export function getItem(store: Store, input: Request): Answer {
  const name = tableName(input);
  const { attributes } = attributesIn(input, "Key");
  input.flag("ConsistentRead");
  const expressions = readExpressions(input, ["ProjectionExpression"]);
  const table = store.tables.get(name);
  checkKeyPaths(table, expressions);
  const found = store.items.find(table.id, encodeKey(attributes, table.key));
  return { Item: found && new JsonText(projectedText(found, expressions.ProjectionExpression)) };
}

export function projectedText({ item }: Pick<StoredItem, "item">, paths: Path[] | undefined): string {
  return paths ? JSON.stringify(pickPaths(JSON.parse(item), paths)) : item;
}

const fields = ["ProjectionExpression", "FilterExpression", "KeyConditionExpression"] as const;

export function query(store: Store, input: Request): Answer {
  const forward = input.flag("ScanIndexForward") ?? true;
  const { view, expressions } = readView(store, input, fields);
  const { KeyConditionExpression: condition, paths } = expressions;
  if (!condition) {
    throw invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.");
  }
  const schema = view.index?.key ?? view.table.key;
  const range = keyRangeOf(condition, schema);
  checkFilter(paths.FilterExpression ?? [], schema);
  const start = startOf(view);
  if (start) checkStart(start, range);
  return readPage(view, rowsOf(store, view, range, forward, start));
}

function checkFilter(paths: Path[], schema: KeySchema): void {
  const names = paths.map(([name]) => name);
  const key = elementsOf(schema).find(({ name }) => names.includes(name));
  if (!key) return;
  const what = "Filter Expression can only contain non-primary key attributes";
  throw invalid(`${what}: Primary key attribute: ${key.name}`);
}

function checkStart({ hash, sort }: Entry, range: KeyRange): void {
  const refuse = (why: string) => invalid(`The provided starting key ${why}`);
  const isInside = Buffer.compare(sort, range.from) >= 0 && Buffer.compare(sort, range.to) < 0;
  if (range.isPartial && !isInside) throw refuse("does not match the range key predicate");
  if (Buffer.compare(hash, range.hash) === 0) return;
  throw refuse("is outside query boundaries based on provided conditions");
}

function rowsOf(store: Store, { table, index }: View, range: KeyRange, forward: boolean, start: Entry | undefined) {
  const stretch = start ? (forward ? { ...range, from: start.sort } : { ...range, to: keyAfter(start.sort) }) : range;
  if (index) {
    const end = forward ? beginning : { sort: lastKey, itemKey: lastKey };
    return store.entries.stretch(index.id, stretch, forward, start ?? end);
  }
  const rest = start ? (forward ? { ...range, from: keyAfter(start.sort) } : { ...range, to: start.sort }) : range;
  return store.items.stretch(table.id, rest, forward) satisfies Iterable<StoredItem>;
}

export function scan(store: Store, input: Request): Answer {
  if (input.has("IndexName")) throw invalid("The local DynamoDB scans no index - query it, or scan the table");
  const { view } = readView(store, input, ["ProjectionExpression", "FilterExpression"]);
  return readPage(view, store.items.sweep(view.table.id, startOf(view) ?? beginning));
}
