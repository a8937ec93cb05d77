// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dynamoDbClient } from "../../../packages/aws/src/clients/clients.ts";
import { createChainStore } from "../../../packages/aws/src/dynamodb/chain/chain-store.ts";
import { createExecutionStore } from "../../../packages/aws/src/dynamodb/executions.ts";
import { openDynamoDb } from "../../../packages/aws-local/src/dynamodb/server.ts";

const writer = join(import.meta.dirname, "crash-writer.ts");

/** Lets a process write until it has acknowledged some entries, and kills it while it writes the next ones. */
async function writeUntilKilled(dataDir: string, round: number): Promise<string[]> {
  const child = fork(writer, [dataDir, String(round)], { stdio: "inherit" });
  const acknowledged: string[] = [];
  child.on("message", (id) => {
    acknowledged.push(String(id));
    if (acknowledged.length === 50 * round) child.kill("SIGKILL");
  });
  await once(child, "exit");
  return acknowledged;
}

test("the local DynamoDB keeps every acknowledged write if its process is killed while it writes", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "nova-crash-"));
  const acknowledged: string[] = [];
  for (const round of [1, 2]) acknowledged.push(...(await writeUntilKilled(dataDir, round)));
  expect(acknowledged.length).toBeGreaterThanOrEqual(150);

  const server = await openDynamoDb({ dataDir, accessKeyId: "k", secretAccessKey: "s" });
  const credentials = { AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "k", AWS_SECRET_ACCESS_KEY: "s" };
  Object.assign(process.env, credentials, { AWS_ENDPOINT_URL_DYNAMODB: server.url });
  const connection = { client: dynamoDbClient(), table: "nova" };
  const chain = createChainStore(connection);
  const executions = createExecutionStore(connection, { ids: () => (async function* () {})() });
  const openIds = new Set((await Array.fromAsync(executions.open())).map(({ id }) => id));
  for (const id of acknowledged) {
    expect((await chain.read({ execution: id, scope: "", seq: 0 })).entry?.hash).toBe(id);
    expect((await executions.get(id))?.id).toBe(id);
    expect(openIds).toContain(id);
  }
  connection.client.destroy();
  await server.close();
  await rm(dataDir, { recursive: true });
});
