import { invalid } from "../errors.ts";
import type { Path } from "../expressions/syntax.ts";
import { checkTableName } from "../request/common.ts";
import { readExpressions } from "../request/expressions.ts";
import type { Input } from "../request/input.ts";
import { refuseUnserved } from "../request/legacy.ts";
import type { Store } from "../store/store.ts";
import type { Table } from "../store/table.ts";
import type { AttributeMap } from "../values/attribute-value.ts";
import { type EncodedKey, encodeKey } from "../values/key.ts";
import { type Answer, JsonText, jsonList } from "./answer.ts";
import { areDistinct } from "./distinct.ts";
import { projectedText } from "./get-item.ts";
import { requestedTables } from "./requested-tables.ts";

/** DynamoDB's limits of one call; what is above the second is left unprocessed. */
const maxKeys = 100;
const maxBytes = 16 * 1024 * 1024;

interface Reading {
  table: Table;
  given: Record<string, unknown>;
  paths: Path[] | undefined;
  keys: { attributes: AttributeMap; key: EncodedKey }[];
}

export function batchGetItem(store: Store, input: Input): Answer {
  const readings = requestedTables(input).map(([name, request]) => readTable(store, name, request));
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

function readTable(store: Store, name: string, request: Input): Reading {
  checkTableName(name);
  refuseUnserved(request);
  request.flag("ConsistentRead");
  const { ProjectionExpression: paths } = readExpressions(request, ["ProjectionExpression"]);
  const given = request.attributeMaps("Keys", { least: 1, most: maxKeys });
  const table = store.tables.get(name);
  const keys = given.map((attributes) => ({ attributes, key: encodeKey(attributes, table.key) }));
  if (!areDistinct(keys.map(({ key }) => ({ table, key }))))
    throw invalid("Provided list of item keys contains duplicates");
  return { table, given: request.fields, paths, keys };
}
