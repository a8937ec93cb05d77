import type { Input } from "../request/input.ts";
import type { Store } from "../store/store.ts";
import type { Answer } from "./answer.ts";

export function listTables(store: Store, input: Input): Answer {
  const limit = input.integer("Limit", { least: 1, most: 100 }) ?? 100;
  const nameLimits = { least: 3, most: 255, pattern: "[a-zA-Z0-9_.-]+" };
  const start = input.optionalText("ExclusiveStartTableName", nameLimits) ?? "";
  const names = store.tables.names().filter((name) => name > start);
  const page = names.slice(0, limit);
  return { TableNames: page, LastEvaluatedTableName: names.length > limit ? page.at(-1) : undefined };
}
