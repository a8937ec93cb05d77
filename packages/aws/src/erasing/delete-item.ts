import { DeleteItemCommand } from "@aws-sdk/client-dynamodb";
import { reaching } from "../clients/outage.ts";
import type { Item } from "../dynamodb/chain/attributes.ts";
import type { EraserConnection } from "./connection.ts";

/** Deletes an item that was read. */
export async function deleteItem({ client, table }: EraserConnection, { pk, sk }: Item): Promise<void> {
  if (!pk || !sk) return;
  await reaching("DynamoDB", () => client.send(new DeleteItemCommand({ TableName: table, Key: { pk, sk } })));
}
