import type { ChainStore } from "@nova/engine";
import { createChainStore } from "../../../packages/aws/src/dynamodb/chain/chain-store.ts";
import { type Item, nameOf } from "./raw-table.ts";

interface Asked {
  ExpressionAttributeValues?: Record<string, { S: string }>;
  KeyConditionExpression?: string;
  ScanIndexForward?: boolean;
  Limit?: number;
  RequestItems?: Record<string, { Keys: Item[] }>;
}

/**
 * Returns a chain store that reads `items` from memory. It leaves out those in `gone`, and reads those in `replaced` in
 * place of items with the same key. So a test of thousands of changes takes seconds instead of minutes.
 */
export function heldChain(items: readonly Item[], replaced: readonly Item[], gone: readonly Item[]): ChainStore {
  const held = new Map(items.map((item) => [nameOf(item), item]));
  for (const item of gone) held.delete(nameOf(item));
  for (const item of replaced) held.set(nameOf(item), item);
  const send = async ({ input }: { input: Asked }) =>
    input.RequestItems
      ? { Responses: { held: input.RequestItems.held?.Keys.map((key) => held.get(nameOf(key))).filter(Boolean) } }
      : { Items: queried([...held.values()], input) };
  return createChainStore({ table: "held", client: { send } as never });
}

function queried(items: readonly Item[], asked: Asked): Item[] {
  const { ":pk": pk, ":from": from, ":to": to } = asked.ExpressionAttributeValues ?? {};
  const isWithin = ({ sk: { S = "" } = { S: "" } }: Item) =>
    to ? S >= (from?.S ?? "") && S <= to.S : S.startsWith(from?.S ?? "");
  const found = items.filter((item) => item.pk?.S === pk?.S && isWithin(item));
  found.sort((one, two) => ((one.sk?.S ?? "") < (two.sk?.S ?? "") ? -1 : 1));
  if (asked.ScanIndexForward === false) found.reverse();
  return found.slice(0, asked.Limit ?? found.length);
}
