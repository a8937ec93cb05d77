import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { reaching } from "../clients/outage.ts";
import { type Item, textIn, textValue } from "../dynamodb/chain/attributes.ts";
import type { EraserConnection } from "./connection.ts";
import { deleteItem } from "./delete-item.ts";

/** What stays of a client: that it ran, and what people did. Its own record goes last. */
const staying = new Set(["execution", "audit", "client"]);

/**
 * A page of the table, without what names the client. Few are erased, so a scan costs less than an index by client of
 * everything that is ever stored, and finds what nobody thought of.
 */
export async function eraseRest(
  connection: EraserConnection,
  slug: string,
  cursor: string | undefined,
): Promise<string | undefined> {
  const scan = new ScanCommand({
    TableName: connection.table,
    FilterExpression: "#client = :slug OR #owner = :owner",
    ExpressionAttributeNames: { "#client": "client", "#owner": "owner" },
    ExpressionAttributeValues: { ":slug": textValue(slug), ":owner": textValue(`client:${slug}`) },
    ...(cursor !== undefined && { ExclusiveStartKey: JSON.parse(cursor) as Item }),
  });
  const { Items = [], LastEvaluatedKey } = await reaching("DynamoDB", () => connection.client.send(scan));
  for (const item of Items) {
    if (!staying.has(textIn(item, "__edb_e__") ?? "")) await deleteItem(connection, item);
  }
  return LastEvaluatedKey && JSON.stringify(LastEvaluatedKey);
}
