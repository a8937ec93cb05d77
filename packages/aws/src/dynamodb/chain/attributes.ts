import type { AttributeValue } from "@aws-sdk/client-dynamodb";

/** An item as DynamoDB has it. Chain items have few attributes, all known: no mapper is worth its time on every node. */
export type Item = Record<string, AttributeValue>;

export function textValue(text: string): AttributeValue {
  return { S: text };
}

export function numberValue(value: number): AttributeValue {
  return { N: String(value) };
}

export function textIn(item: Item, name: string): string | undefined {
  return item[name]?.S;
}

export function numberIn(item: Item, name: string): number | undefined {
  const digits = item[name]?.N;
  return digits === undefined ? undefined : Number(digits);
}
