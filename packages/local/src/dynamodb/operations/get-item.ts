import { project } from "../expressions/project.ts";
import type { Path } from "../expressions/syntax.ts";
import { returnedCapacity, tableName } from "../request/common.ts";
import { readExpressions } from "../request/expressions.ts";
import type { Input } from "../request/input.ts";
import type { StoredItem } from "../store/items.ts";
import type { Store } from "../store/store.ts";
import { encodeKey } from "../values/key.ts";
import { type Answer, JsonText } from "./answer.ts";
import { consumedCapacity, readUnits } from "./capacity.ts";
import { checkKeyPaths } from "./check-paths.ts";

export function getItem(store: Store, input: Input): Answer {
  const [name, capacity] = [tableName(input), returnedCapacity(input)];
  const { attributes } = input.attributes("Key");
  const isConsistent = input.flag("ConsistentRead") ?? false;
  const { ProjectionExpression: paths } = readExpressions(input, ["ProjectionExpression"]);
  const table = store.tables.get(name);
  checkKeyPaths(table, undefined, paths);
  const found = store.items.find(table.id, encodeKey(attributes, table.key));
  const units = readUnits(found?.bytes ?? 0, isConsistent);
  return {
    Item: found && new JsonText(projectedText(found, paths)),
    ConsumedCapacity: consumedCapacity(capacity, table, { table: units, indexes: {} }),
  };
}

export function projectedText({ item }: Pick<StoredItem, "item">, paths: Path[] | undefined): string {
  return paths ? JSON.stringify(project(JSON.parse(item), paths)) : item;
}
