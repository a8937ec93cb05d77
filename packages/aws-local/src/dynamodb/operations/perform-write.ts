import { AwsError } from "../../aws-http/aws-error.ts";
import { invalid } from "../errors.ts";
import { applyUpdates, isTrue } from "../expressions/evaluate.ts";
import type { Condition, Update } from "../expressions/syntax.ts";
import { largestItemBytes } from "../request/common.ts";
import type { StoredItem } from "../store/items.ts";
import type { Store } from "../store/store.ts";
import type { Table } from "../store/tables.ts";
import { type Place, removeItem, storeItem } from "../store/write-item.ts";
import { admitAttributes } from "../values/admit.ts";
import type { AttributeMap, Attributes } from "../values/attribute-value.ts";
import type { EncodedKey } from "../values/key.ts";

/** A write of one item. A batch contains several writes, and any other request contains one. */
export interface Write {
  table: Table;
  key: EncodedKey;
  condition: Condition | undefined;
  change: Change;
}

type Change =
  | { kind: "put"; item: Attributes }
  | { kind: "update"; updates: Update[]; keyAttributes: AttributeMap }
  | { kind: "delete" };

/**
 * Performs a write and returns the new item. Throws ConditionalCheckFailedException if the condition does not hold, and
 * ValidationException if the update does not fit the item.
 */
export function performWrite(store: Store, { table, key, condition, change }: Write): AttributeMap | undefined {
  const old = store.items.find(table.id, key);
  const parse = (): AttributeMap => (old ? JSON.parse(old.item) : {});
  if (condition && !isTrue(condition, parse()))
    throw new AwsError("ConditionalCheckFailedException", "The conditional request failed");
  const place: Place = { table, key, old };
  const next =
    change.kind === "put" ? change.item : change.kind === "update" ? applyChange(change, parse, old) : undefined;
  if (next) storeItem(store, place, next);
  else removeItem(store, place);
  return next?.attributes;
}

function applyChange(
  { updates, keyAttributes }: Change & { kind: "update" },
  parse: () => AttributeMap,
  old: StoredItem | undefined,
): Attributes {
  const attributes = old ? parse() : { ...keyAttributes };
  applyUpdates(updates, attributes);
  const bytes = admitAttributes(attributes);
  if (bytes > largestItemBytes) throw invalid("Item size to update has exceeded the maximum allowed size");
  return { attributes, bytes };
}
