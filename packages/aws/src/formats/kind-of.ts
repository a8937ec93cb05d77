import { type Item, textIn } from "../dynamodb/chain/attributes.ts";

/** What an item is, by the mark that ElectroDB and the chain give theirs; counters, written by hand, by their keys. */
export function kindOf(item: Item): string {
  const entity = textIn(item, "__edb_e__");
  if (entity !== undefined) return entity;
  if (textIn(item, "pk")?.startsWith("R#")) return "rate";
  return textIn(item, "sk") === "SLOTS" ? "slots" : "";
}
