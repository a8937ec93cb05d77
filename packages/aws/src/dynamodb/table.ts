import { setTimeout as sleep } from "node:timers/promises";
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  type DynamoDBClient,
} from "@aws-sdk/client-dynamodb";
import { orOnError } from "../clients/outage.ts";
import { tableDefinition } from "./table-definition.ts";

/** Creates the table unless it exists, and waits until it is active. */
export async function createTable(client: DynamoDBClient, name: string): Promise<void> {
  await orOnError(["ResourceInUseException"], null, () => client.send(new CreateTableCommand(createTableInput(name))));
  await untilActive(client, name);
}

/** The SDK's waiter sleeps whole seconds. A table takes a millisecond on a laptop, and ten seconds in the cloud. */
async function untilActive(client: DynamoDBClient, name: string): Promise<void> {
  for (let pauseMs = 5; pauseMs < longestPauseMs; pauseMs *= 1.5) {
    if ((await statusOf(client, name)) === "ACTIVE") return;
    await sleep(pauseMs);
  }
  throw new Error(`table "${name}" did not become active - look at it in the DynamoDB console`);
}

/** Undefined while the table is unknown: DescribeTable is eventually consistent. */
async function statusOf(client: DynamoDBClient, name: string): Promise<string | undefined> {
  const describe = new DescribeTableCommand({ TableName: name });
  return (await orOnError(["ResourceNotFoundException"], null, () => client.send(describe)))?.Table?.TableStatus;
}

/** The pauses add up to about three minutes. */
const longestPauseMs = 60_000;

function createTableInput(name: string): CreateTableCommandInput {
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

function keySchema(partitionKey: string, sortKey: string): CreateTableCommandInput["KeySchema"] {
  return [
    { AttributeName: partitionKey, KeyType: "HASH" },
    { AttributeName: sortKey, KeyType: "RANGE" },
  ];
}
