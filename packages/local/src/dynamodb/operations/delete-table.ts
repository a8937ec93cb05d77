import { invalid } from "../errors.ts";
import { tableName } from "../request/common.ts";
import type { Input } from "../request/input.ts";
import type { Store } from "../store/store.ts";
import type { Answer } from "./answer.ts";

export function deleteTable(store: Store, input: Input): Answer {
  const table = store.tables.named(tableName(input));
  if (table.description.DeletionProtectionEnabled) {
    const what = "Resource cannot be deleted as it is currently protected against deletion.";
    throw invalid(`${what} Disable deletion protection first.`);
  }
  store.atomically(() => {
    for (const index of table.indexes) store.entries.clear(index.id);
    store.items.clear(table.id);
    store.tables.remove(table);
  });
  return { TableDescription: { ...table.description, TableStatus: "DELETING" } };
}
