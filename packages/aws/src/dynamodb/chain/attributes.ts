import type { AttributeValue, DynamoDBClient } from "@aws-sdk/client-dynamodb";

/** An item as DynamoDB has it. Chain items have few attributes, all known: no mapper is worth its time on every node. */
export type Item = Record<string, AttributeValue>;

/** A table, to read and write items as they are. Both a plain client and a document client take the plain commands. */
export interface ItemConnection {
  client: Pick<DynamoDBClient, "send">;
  table: string;
}

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

/** What an item holds: what is null or undefined is no attribute of it. */
export type Values = { [name: string]: string | number | Values | null | undefined };

export function itemOf(values: Values): Item {
  const item: Item = {};
  for (const name in values) {
    const value = values[name];
    if (value == null) continue;
    item[name] =
      typeof value === "string"
        ? { S: value }
        : typeof value === "number"
          ? { N: String(value) }
          : { M: itemOf(value) };
  }
  return item;
}

export function valuesOf(item: Item): Values {
  const values: Values = {};
  for (const name in item) {
    const { S, N, M } = item[name] as AttributeValue;
    values[name] = S ?? (M ? valuesOf(M) : N === undefined ? undefined : Number(N));
  }
  return values;
}

/** Last part of a link's sort key: a turn lies directly before the entry it is the right to. */
export const TURN = "0";
export const ENTRY = "1";
export type LinkKind = typeof TURN | typeof ENTRY;

/**
 * Partition of a link: execution + scope up to the innermost map item, so that ten thousand items of a map do not
 * share the 1,000 writes a second of one partition. A branch that is digits is an item.
 */
export function chainPartition(execution: string, scope: string): string {
  const [item = ""] = /^.*\.\d+(?=\/|$)/.exec(scope) ?? [];
  return execution + item;
}

export function partitionKey(partition: string): string {
  return `C#${partition}`;
}

export function linkKey(scope: string, seq: number, kind: LinkKind): string {
  return `L#${scope}#${padded(seq, 10)}#${kind}`;
}

/** What the sort keys of a link's steps begin with. */
export function stepPrefix(scope: string, seq: number): string {
  return `S#${scope}#${padded(seq, 10)}#`;
}

/** Padded, so that step 10 lies behind step 9. */
export function stepKey(scope: string, seq: number, step: number): string {
  return stepPrefix(scope, seq) + padded(step, 4);
}

function padded(value: number, digits: number): string {
  return String(value).padStart(digits, "0");
}
