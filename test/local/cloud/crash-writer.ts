/** Opens the DynamoDB of a folder, writes for ever, and reports the acknowledged writes to its parent. */
import { createTable } from "@nova/aws";
import type { Execution } from "@nova/engine";
import { dynamoDbClient } from "../../../packages/aws/src/clients/clients.ts";
import { createChainStore } from "../../../packages/aws/src/dynamodb/chain/chain-store.ts";
import { createExecutionStore } from "../../../packages/aws/src/dynamodb/executions.ts";
import { openDynamoDb } from "../../../packages/aws-local/src/dynamodb/server.ts";

const [dataDir, round] = process.argv.slice(2) as [string, string];
const server = await openDynamoDb({ dataDir, accessKeyId: "k", secretAccessKey: "s" });
const credentials = { AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "k", AWS_SECRET_ACCESS_KEY: "s" };
Object.assign(process.env, credentials, { AWS_ENDPOINT_URL_DYNAMODB: server.url });
const connection = { client: dynamoDbClient(), table: "nova" };
await createTable(connection.client, connection.table);
const chain = createChainStore(connection);
const executions = createExecutionStore(connection, { ids: () => (async function* () {})() });

async function writeForever(lane: number): Promise<void> {
  for (let number = 0; ; number++) {
    const id = `exec_${round}_${lane}_${number}`;
    const entry = { head: "x".repeat(2000), hash: id, contents: {} };
    await chain.putEntry({ execution: id, scope: "", seq: 0 }, entry);
    const startedAt = "2026-11-21T10:00:00.000Z";
    const record = {
      format: 1,
      id,
      workflowId: "w",
      version: 1,
      stateMachineArn: "arn",
      client: "c",
      root: id,
    } as const;
    await executions.create({ ...record, status: "running", startedAt, open: true } satisfies Execution);
    process.send?.(id);
  }
}

await Promise.all([1, 2, 3, 4].map(writeForever));
