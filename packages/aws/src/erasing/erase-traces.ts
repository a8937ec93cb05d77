import { QueryCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { erasedWords } from "@nova/engine";
import { reaching, reachingIf } from "../clients/outage.ts";
import { type Item, textValue } from "../dynamodb/chain/attributes.ts";
import type { EraserConnection } from "./connection.ts";
import { deleteItem } from "./delete-item.ts";

const store = "DynamoDB";

/** Tasks, with what people were asked, and their tokens go; of the record the words of its error. */
export async function eraseTraces(connection: EraserConnection, execution: string): Promise<void> {
  for (let after: Item | undefined; ; ) {
    const query = new QueryCommand({
      TableName: connection.table,
      ConsistentRead: true,
      KeyConditionExpression: "#pk = :pk",
      ExpressionAttributeNames: { "#pk": "pk" },
      ExpressionAttributeValues: { ":pk": textValue(`T#${execution}`) },
      ...(after && { ExclusiveStartKey: after }),
    });
    const { Items = [], LastEvaluatedKey } = await reaching(store, () => connection.client.send(query));
    for (const item of Items) await deleteItem(connection, item);
    after = LastEvaluatedKey;
    if (!after) break;
  }
  await maskError(connection, execution);
}

async function maskError({ client, table }: EraserConnection, execution: string): Promise<void> {
  const update = new UpdateItemCommand({
    TableName: table,
    Key: { pk: textValue(`E#${execution}`), sk: textValue("E") },
    UpdateExpression: "SET #error.#message = :words",
    ConditionExpression: "attribute_exists(#error.#message)",
    ExpressionAttributeNames: { "#error": "error", "#message": "message" },
    ExpressionAttributeValues: { ":words": textValue(erasedWords) },
  });
  await reachingIf(store, () => client.send(update));
}
