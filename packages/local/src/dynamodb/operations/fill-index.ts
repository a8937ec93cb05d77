import { DynamoDbError } from "../errors.ts";
import { itemKeyOf } from "../store/entries.ts";
import type { Store } from "../store/store.ts";
import type { Index, Table } from "../store/table.ts";
import { isIndexed } from "../store/write-item.ts";
import type { AttributeMap } from "../values/attribute-value.ts";
import { behindAll, encodeChecked } from "../values/key.ts";
import { beginning } from "./start-key.ts";

/** Enters the items that are there. Those whose attribute cannot be a key of the index stay out, as in the cloud. */
export function fillIndex(store: Store, table: Table, index: Index): void {
  for (const { id, item } of store.items.sweep(table.id, { after: beginning, to: behindAll })) {
    const attributes: AttributeMap = JSON.parse(item);
    if (!fits(attributes, index)) continue;
    const itemKey = itemKeyOf(encodeChecked(attributes, table.key));
    store.entries.put(index.id, { ...encodeChecked(attributes, index.key), itemKey }, id);
  }
}

function fits(item: AttributeMap, index: Index): boolean {
  try {
    return isIndexed(item, index);
  } catch (error) {
    if (error instanceof DynamoDbError) return false;
    throw error;
  }
}
