import { constraint } from "../../aws-http/aws-error.ts";
import { Request } from "../../aws-http/request.ts";
import type { Json } from "../../json.ts";
import { invalid, malformed } from "../errors.ts";
import { attributesIn, checkTableName, largestItemBytes, refuseUnserved } from "../request/common.ts";
import { readExpressions } from "../request/expressions.ts";
import { itemKeyOf } from "../store/entries.ts";
import type { Store } from "../store/store.ts";
import type { Table } from "../store/tables.ts";
import { admitAttributes } from "../values/admit.ts";
import type { AttributeMap } from "../values/attribute-value.ts";
import { type EncodedKey, encodeItemKey, encodeKey } from "../values/key.ts";
import { type Answer, JsonText, jsonList } from "./answer.ts";
import { performWrite, type Write } from "./perform-write.ts";
import { projectedText } from "./reads.ts";

/**
 * DynamoDB's limits for BatchGetItem. A call with more than `maxKeys` keys is refused. When the found items reach
 * `maxBytes`, the response lists the remaining keys as unprocessed.
 */
const maxKeys = 100;
const maxBytes = 16 * 1024 * 1024;

export function batchGetItem(store: Store, input: Request): Answer {
  const readings = requestItems(input).map(([name, request]) => readTable(store, name, new Request(request)));
  const count = readings.reduce((sum, { keys }) => sum + keys.length, 0);
  if (count > maxKeys) throw invalid("Too many items requested for the BatchGetItem call");
  const responses: string[] = [];
  const unprocessed: Record<string, unknown> = {};
  let bytes = 0;
  for (const { table, given, paths, keys } of readings) {
    const texts: string[] = [];
    const left: AttributeMap[] = [];
    for (const { attributes, key } of keys) {
      const found = bytes < maxBytes ? store.items.find(table.id, key) : undefined;
      if (bytes >= maxBytes) left.push(attributes);
      bytes += found?.bytes ?? 0;
      if (found) texts.push(projectedText(found, paths));
    }
    responses.push(`${JSON.stringify(table.name)}:${jsonList(texts).json}`);
    if (left.length > 0) unprocessed[table.name] = { ...given, Keys: left };
  }
  const Responses = new JsonText(`{${responses.join(",")}}`);
  return { Responses, UnprocessedKeys: unprocessed };
}

function readTable(store: Store, name: string, request: Request) {
  checkTableName(name);
  refuseUnserved(request);
  request.flag("ConsistentRead");
  const { ProjectionExpression: paths } = readExpressions(request, ["ProjectionExpression"]);
  const given = request.list("Keys", { least: 1, most: maxKeys });
  if (!given) throw request.missing("Keys");
  const table = store.tables.get(name);
  for (const attributes of given) admitAttributes(attributes);
  const keys = (given as AttributeMap[]).map((attributes) => ({ attributes, key: encodeKey(attributes, table.key) }));
  checkDistinct(keys.map(({ key }) => ({ table, key })));
  return { table, given: request.fields, paths, keys };
}

/** DynamoDB's limit for the writes of one BatchWriteItem. */
const maxWrites = 25;

/**
 * Writes all items in one transaction, so no item is left unprocessed. Callers must not rely on this, because DynamoDB
 * itself may write only some of the items.
 */
export function batchWriteItem(store: Store, input: Request): Answer {
  const requests = requestItems(input).flatMap(([name, list]) => readRequests(name, list));
  if (requests.length > maxWrites) throw invalid("Too many items requested for the BatchWriteItem call");
  const writes = requests.map(({ name, request }) => readWrite(store.tables.get(name), request));
  checkDistinct(writes);
  store.atomically(() => {
    for (const write of writes) performWrite(store, write);
  });
  return { UnprocessedItems: {} };
}

function readRequests(name: string, list: Json): { name: string; request: Request }[] {
  checkTableName(name);
  if (!Array.isArray(list)) throw malformed("Unexpected field type");
  if (list.length === 0 || list.length > maxWrites) {
    const rules = ["less than or equal to 25", "greater than or equal to 1"].map((r) => `Member must have length ${r}`);
    const what = `failed to satisfy constraint: Map value must satisfy constraint: [${rules.join(", ")}]`;
    throw invalid(`1 validation error detected: Value at 'requestItems' ${what}`);
  }
  return list.map((request) => ({ name, request: new Request(request, `requestItems.${name}.member.`) }));
}

function readWrite(table: Table, request: Request): Write {
  const [put, remove] = [request.structure("PutRequest"), request.structure("DeleteRequest")];
  if ((put === undefined) === (remove === undefined)) {
    const what = "Supplied AttributeValue has more than one datatypes set";
    throw invalid(`${what}, must contain exactly one of the supported datatypes`);
  }
  const plain = { table, condition: undefined };
  if (remove) {
    return { ...plain, key: encodeKey(attributesIn(remove, "Key").attributes, table.key), change: { kind: "delete" } };
  }
  const item = attributesIn(put as Request, "Item");
  if (item.bytes > largestItemBytes) throw invalid("Item size has exceeded the maximum allowed size");
  return { ...plain, key: encodeItemKey(item.attributes, table.key), change: { kind: "put", item } };
}

function requestItems(input: Request): [string, Json][] {
  const items = input.map("RequestItems");
  if (!items) throw input.missing("RequestItems");
  const tables = Object.entries(items);
  if (tables.length > 0) return tables;
  throw constraint("requestItems", "{}", "must have length greater than or equal to 1");
}

function checkDistinct(items: readonly { table: Table; key: EncodedKey }[]): void {
  const texts = items.map(({ table, key }) => `${table.id} ${Buffer.from(itemKeyOf(key)).toString("latin1")}`);
  if (new Set(texts).size < items.length) throw invalid("Provided list of item keys contains duplicates");
}
