import { tableName } from "../request/common.ts";
import type { Input } from "../request/input.ts";
import type { Store } from "../store/store.ts";
import type { Answer } from "./answer.ts";

export function describeTable(store: Store, input: Input): Answer {
  return { Table: store.tables.named(tableName(input)).description };
}
