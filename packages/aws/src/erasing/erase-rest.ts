import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { reaching } from "../clients/outage.ts";
import { type Item, textIn, textValue } from "../dynamodb/chain/attributes.ts";
import type { EraserConnection } from "./connection.ts";
import { deleteItem } from "./delete-item.ts";

/** What stays of a client: that it ran, and what people did. Its own record goes last. */
const staying = new Set(["execution", "audit", "client"]);

/** Queues of a client, and of a workflow for one client. */
const pools = "Q#";

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
    ConsistentRead: true,
    FilterExpression: "#client = :slug OR #owner = :owner OR begins_with(#pk, :pools)",
    ExpressionAttributeNames: { "#client": "client", "#owner": "owner", "#pk": "pk" },
    ExpressionAttributeValues: {
      ...{ ":slug": textValue(slug), ":owner": textValue(`client:${slug}`), ":pools": textValue(pools) },
    },
    ...(cursor !== undefined && { ExclusiveStartKey: JSON.parse(cursor) as Item }),
  });
  const { Items = [], LastEvaluatedKey } = await reaching("DynamoDB", () => connection.client.send(scan));
  for (const item of Items) {
    if (isToGo(item, slug)) await deleteItem(connection, item);
  }
  return LastEvaluatedKey && JSON.stringify(LastEvaluatedKey);
}

/** Of a pool only what names runs: that it is there is remembered by who writes to it. */
function isToGo(item: Item, slug: string): boolean {
  const [entity, partition = ""] = [textIn(item, "__edb_e__") ?? "", textIn(item, "pk")];
  if (!partition.startsWith(pools)) return !staying.has(entity);
  return entity !== "pool" && !partition.startsWith("Q#W#") && partition.endsWith(`#${slug}`);
}
