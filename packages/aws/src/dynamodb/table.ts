import {
  CreateTableCommand,
  type CreateTableCommandInput,
  type DynamoDBClient,
  ResourceInUseException,
  waitUntilTableExists,
} from "@aws-sdk/client-dynamodb";

/** What the one table looks like. Data, so that a deployment can make it from the same words. */
export const tableDefinition = {
  partitionKey: "pk",
  sortKey: "sk",
  /** All keys are strings, all indexes project everything, none is read consistently. */
  indexes: [
    { name: "by-workflow", partitionKey: "workflowKey", sortKey: "ordered" },
    { name: "by-client", partitionKey: "clientKey", sortKey: "ordered" },
    { name: "open", partitionKey: "open", sortKey: "ordered" },
  ],
} as const;

/** Makes the table unless it is there, and waits until it can be used. */
export async function createTable(client: DynamoDBClient, name: string): Promise<void> {
  try {
    await client.send(new CreateTableCommand(createTableInput(name)));
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
  await waitUntilTableExists({ client, minDelay: 1, maxDelay: 5, maxWaitTime: 120 }, { TableName: name });
}

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
