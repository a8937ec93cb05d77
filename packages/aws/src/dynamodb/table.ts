import { setTimeout as sleep } from "node:timers/promises";
import * as sdk from "@aws-sdk/client-dynamodb";
import { orOnError } from "../clients/outage.ts";
import { tableDefinition } from "./table-definition.ts";

/** Creates the table unless it exists, and waits until it is active. */
export async function createTable(client: sdk.DynamoDBClient, name: string): Promise<void> {
  await orOnError(["ResourceInUseException"], null, () =>
    client.send(new sdk.CreateTableCommand(createTableInput(name))),
  );
  await untilActive(client, name);
}

/**
 * Waits until the table is active, with shorter pauses than the SDK's waiter. A table takes a millisecond on a laptop,
 * and ten seconds in the cloud.
 */
async function untilActive(client: sdk.DynamoDBClient, name: string): Promise<void> {
  for (let pauseMs = 5; pauseMs < longestPauseMs; pauseMs *= 1.5) {
    if ((await statusOf(client, name)) === "ACTIVE") return;
    await sleep(pauseMs);
  }
  throw new Error(`table "${name}" did not become active - look at it in the DynamoDB console`);
}

/**
 * Returns the table's status; undefined while DescribeTable, which is eventually consistent, does not know the table.
 */
async function statusOf(client: sdk.DynamoDBClient, name: string): Promise<string | undefined> {
  const describe = new sdk.DescribeTableCommand({ TableName: name });
  return (await orOnError(["ResourceNotFoundException"], null, () => client.send(describe)))?.Table?.TableStatus;
}

/** Pauses grow up to this number of milliseconds. Together they last about three minutes. */
const longestPauseMs = 60_000;

function createTableInput(name: string): sdk.CreateTableCommandInput {
  const { partitionKey, sortKey, indexes } = tableDefinition;
  const keys = new Set<string>([partitionKey, sortKey, ...indexes.flatMap((i) => [i.partitionKey, i.sortKey])]);
  return {
    TableName: name,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: [...keys].map((key) => ({ AttributeName: key, AttributeType: "S" })),
    KeySchema: keySchema(partitionKey, sortKey),
    GlobalSecondaryIndexes: indexes.map((index) => ({
      IndexName: index.name,
      KeySchema: keySchema(index.partitionKey, index.sortKey),
      Projection: { ProjectionType: "ALL" },
    })),
  };
}

function keySchema(partitionKey: string, sortKey: string): sdk.CreateTableCommandInput["KeySchema"] {
  return [
    { AttributeName: partitionKey, KeyType: "HASH" },
    { AttributeName: sortKey, KeyType: "RANGE" },
  ];
}
