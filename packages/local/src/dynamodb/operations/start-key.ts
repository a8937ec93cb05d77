import { DynamoDbError, invalid } from "../errors.ts";
import { type Entry, itemKeyOf } from "../store/entries.ts";
import { positionNames } from "../store/table.ts";
import { type AttributeMap, attribute } from "../values/attribute-value.ts";
import { type EncodedKey, encodeKey, type KeySchema, noBytes } from "../values/key.ts";
import type { View } from "./view.ts";

/** In front of everything. */
export const beginning: Entry = { hash: noBytes, sort: noBytes, itemKey: noBytes };

/** Where a page begins, from the key at which the one before it ended; undefined without one. */
export function startOf({ table, index, startKey }: View): Entry | undefined {
  if (!startKey) return undefined;
  const names = positionNames(table, index);
  if (Object.keys(startKey).length !== names.length || !names.every((name) => attribute(startKey, name))) {
    const why = index ? "" : ": The provided key element does not match the schema";
    throw invalid(`The provided starting key is invalid${why}`);
  }
  const itemKey = itemKeyOf(part(startKey, table.key));
  return { ...part(startKey, index?.key ?? table.key), itemKey };
}

function part(startKey: AttributeMap, schema: KeySchema): EncodedKey {
  const names = schema.sort ? [schema.hash.name, schema.sort.name] : [schema.hash.name];
  const key = Object.fromEntries(names.flatMap((name) => [[name, attribute(startKey, name)] as const]));
  try {
    return encodeKey(key as AttributeMap, schema);
  } catch (error) {
    if (!(error instanceof DynamoDbError)) throw error;
    throw invalid(`The provided starting key is invalid: ${error.message}`);
  }
}
