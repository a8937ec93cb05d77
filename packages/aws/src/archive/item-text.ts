import type { Item } from "../dynamodb/chain/attributes.ts";

/** An item as DynamoDB writes it in JSON: numbers are texts and keep their digits, bytes are base64. */
export function itemText(item: Item): string {
  return JSON.stringify(item, (_, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value,
  );
}

/** A member `B` that is a text can only be bytes: in an attribute of that name it would be an object. */
export function itemOf(text: string): Item {
  return JSON.parse(text, (key, value) =>
    key === "B" && typeof value === "string" ? Buffer.from(value, "base64") : value,
  );
}
