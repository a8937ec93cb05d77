import { invalid } from "../errors.ts";
import { returnedCapacity, tableName } from "../request/common.ts";
import { readExpressions } from "../request/expressions.ts";
import type { Input } from "../request/input.ts";
import type { Store } from "../store/store.ts";
import { encodeKey } from "../values/key.ts";
import { type Answer, jsonList } from "./answer.ts";
import { CapacitySum, readUnits } from "./capacity.ts";
import { areDistinct } from "./distinct.ts";
import { projectedText } from "./get-item.ts";

/** DynamoDB's limit of one transaction. */
const mostGets = 100;

export function transactGetItems(store: Store, input: Input): Answer {
  const capacity = returnedCapacity(input);
  const gets = input.neededStructures("TransactItems", { least: 1, most: mostGets }).map((item) => {
    const get = item.neededStructure("Get");
    const [name, { attributes }] = [tableName(get), get.attributes("Key")];
    const { ProjectionExpression: paths } = readExpressions(get, ["ProjectionExpression"]);
    const table = store.tables.get(name);
    return { table, key: encodeKey(attributes, table.key), paths };
  });
  if (!areDistinct(gets)) throw invalid("Transaction request cannot include multiple operations on one item");
  const sum = new CapacitySum();
  const responses = gets.map(({ table, key, paths }) => {
    const found = store.items.find(table.id, key);
    sum.add(table, { table: readUnits(found?.bytes ?? 0, true), indexes: {} }, 2);
    return found ? `{"Item":${projectedText(found, paths)}}` : "{}";
  });
  return { Responses: jsonList(responses), ConsumedCapacity: sum.total(capacity) };
}
