import { project } from "../expressions/project.ts";
import type { Path } from "../expressions/syntax.ts";
import { tableName } from "../request/common.ts";
import { readExpressions } from "../request/expressions.ts";
import type { Input } from "../request/input.ts";
import type { StoredItem } from "../store/items.ts";
import type { Store } from "../store/store.ts";
import { encodeKey } from "../values/key.ts";
import { type Answer, JsonText } from "./answer.ts";
import { checkKeyPaths } from "./check-paths.ts";

export function getItem(store: Store, input: Input): Answer {
  const name = tableName(input);
  const { attributes } = input.attributes("Key");
  input.flag("ConsistentRead");
  const { ProjectionExpression: paths } = readExpressions(input, ["ProjectionExpression"]);
  const table = store.tables.get(name);
  checkKeyPaths(table, undefined, paths);
  const found = store.items.find(table.id, encodeKey(attributes, table.key));
  return { Item: found && new JsonText(projectedText(found, paths)) };
}

export function projectedText({ item }: Pick<StoredItem, "item">, paths: Path[] | undefined): string {
  return paths ? JSON.stringify(project(JSON.parse(item), paths)) : item;
}
