import { itemKeyOf } from "../store/entries.ts";
import type { Table } from "../store/table.ts";
import type { EncodedKey } from "../values/key.ts";

/** Whether no two of these are the same item. */
export function areDistinct(items: readonly { table: Table; key: EncodedKey }[]): boolean {
  const texts = items.map(({ table, key }) => `${table.id} ${Buffer.from(itemKeyOf(key)).toString("latin1")}`);
  return new Set(texts).size === items.length;
}
