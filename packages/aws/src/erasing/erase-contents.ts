import { QueryCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { furtherScopes } from "@nova/engine";
import type { ErasableScope } from "@nova/service";
import { reaching } from "../clients/outage.ts";
import { type Item, textIn, textValue } from "../dynamodb/chain/attributes.ts";
import { chainPartition, partitionKey } from "../dynamodb/chain/keys.ts";
import { linksOf } from "../dynamodb/chain/link-item.ts";
import type { EraserConnection } from "./connection.ts";

const store = "DynamoDB";

/** Items of one partition whose contents are going at the same time. */
const atOnce = 16;

/** Takes the contents out of every entry and step of a partition. What is hashed stays, and with it the chain. */
export async function eraseContents(connection: EraserConnection, at: ErasableScope): Promise<ErasableScope[]> {
  const partition = partitionKey(chainPartition(at.execution, at.scope));
  const further: ErasableScope[] = [];
  let after: Item | undefined;
  do {
    const page = await readPage(connection, partition, after);
    const kept = page.items.filter(holdsContents);
    while (kept.length > 0) await Promise.all(kept.splice(0, atOnce).map((item) => takeContents(connection, item)));
    const entries = page.items.filter((item) => textIn(item, "head") !== undefined);
    further.push(...linksOf(entries).flatMap(({ entry }) => (entry ? furtherScopes(entry) : [])));
    after = page.end;
  } while (after);
  return further;
}

async function readPage({ client, table }: EraserConnection, partition: string, after: Item | undefined) {
  const query = new QueryCommand({
    TableName: table,
    ConsistentRead: true,
    KeyConditionExpression: "#pk = :pk",
    ExpressionAttributeNames: { "#pk": "pk" },
    ExpressionAttributeValues: { ":pk": textValue(partition) },
    ...(after && { ExclusiveStartKey: after }),
  });
  const { Items = [], LastEvaluatedKey } = await reaching(store, () => client.send(query));
  return { items: Items, end: LastEvaluatedKey };
}

/** Steps of format 1 without contents have what people said in their text. */
function holdsContents(item: Item): boolean {
  return item.contents !== undefined || (item.step !== undefined && hasOwnWords(item));
}

function hasOwnWords(item: Item): boolean {
  const text = textIn(item, "text") ?? "";
  return text !== "" && !("digests" in JSON.parse(text));
}

async function takeContents({ client, table }: EraserConnection, item: Item): Promise<void> {
  const { pk, sk } = item;
  if (!pk || !sk) return;
  const names = item.step !== undefined && hasOwnWords(item) ? ["contents", "text"] : ["contents"];
  const update = new UpdateItemCommand({
    TableName: table,
    Key: { pk, sk },
    UpdateExpression: `REMOVE ${names.map((name) => `#${name}`).join(", ")}`,
    ConditionExpression: "attribute_exists(#pk)",
    ExpressionAttributeNames: { "#pk": "pk", ...Object.fromEntries(names.map((name) => [`#${name}`, name])) },
  });
  await reaching(store, () => client.send(update));
}
