import type { CreateTableCommandInput } from "@aws-sdk/client-dynamodb";
import { DynamoDB } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll } from "vitest";
import { openDynamoDb } from "../../../../packages/aws-local/src/dynamodb/server.ts";
import { signedFetch } from "../../support/signed.ts";

const credentials = { accessKeyId: "k", secretAccessKey: "s" };

export interface TestDatabase {
  client: DynamoDB;
  /** Sends a raw request, so that a test can send what the client's types do not allow. */
  send(operation: string, body: string): Promise<{ status: number; body: Record<string, unknown> }>;
}

/** Opens DynamoDB in memory with these tables, for the tests of one file. */
export function useDatabase(...tables: CreateTableCommandInput[]): TestDatabase {
  const database = {} as TestDatabase;
  let close: () => Promise<void>;
  beforeAll(async () => {
    const server = await openDynamoDb({ dataDir: null, ...credentials });
    database.client = new DynamoDB({ endpoint: server.url, region: "us-east-1", credentials, maxAttempts: 1 });
    database.send = (operation, body) => post(server.url, operation, body);
    for (const table of tables) await database.client.createTable(table);
    close = server.close;
  });
  afterAll(async () => {
    database.client.destroy();
    await close();
  });
  return database;
}

async function post(url: string, operation: string, body: string) {
  const headers = { "x-amz-target": `DynamoDB_20120810.${operation}` };
  const answer = await signedFetch("dynamodb", credentials, url, { method: "POST", headers, body });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

type KeyType = "S" | "N";

/**
 * Returns the definition of a table. `keys` has the name and type of the hash key, and of the sort key if there is one.
 */
export function tableInput(name: string, ...keys: [string, KeyType][]): CreateTableCommandInput {
  return {
    TableName: name,
    BillingMode: "PAY_PER_REQUEST",
    AttributeDefinitions: keys.map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
    KeySchema: keySchema(...keys.map(([key]) => key)),
  };
}

export function keySchema(...names: string[]): NonNullable<CreateTableCommandInput["KeySchema"]> {
  return names.map((AttributeName, i) => ({ AttributeName, KeyType: i === 0 ? "HASH" : "RANGE" }));
}

/** Returns the placeholders in `known` that the expression uses; undefined if it uses none of them. */
export function used<T>(expression: string, known: Record<string, T>): Record<string, T> | undefined {
  const found = Object.entries(known).filter(([name]) => new RegExp(`${name}\\b`).test(expression));
  return found.length > 0 ? Object.fromEntries(found) : undefined;
}
