import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import { afterEach, expect, test } from "vitest";
import type { AwsServer } from "../../../packages/aws-local/src/aws-http/listen.ts";
import {
  type DynamoDbOptions,
  type DynamoDbRequest,
  openDynamoDb,
} from "../../../packages/aws-local/src/dynamodb/server.ts";
import { signedHeaders } from "../support/signed.ts";

const key = { accessKeyId: "mine", secretAccessKey: "secret" };
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function open(options: Partial<DynamoDbOptions> = {}): Promise<AwsServer> {
  const server = await openDynamoDb({ dataDir: null, ...key, ...options });
  let isOpen = true;
  const close = async () => {
    if (isOpen) await server.close();
    isOpen = false;
  };
  cleanups.push(close);
  return { ...server, close };
}

function clientOf({ url }: AwsServer, credentials = key): DynamoDBClient {
  const client = new DynamoDBClient({ endpoint: url, region: "us-east-1", credentials, maxAttempts: 1 });
  cleanups.push(() => client.destroy());
  return client;
}

async function folder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "nova-dynamodb-"));
  cleanups.push(() => rm(dir, { recursive: true }));
  return dir;
}

const table = new CreateTableCommand({
  TableName: "items",
  BillingMode: "PAY_PER_REQUEST",
  AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
  KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
});
const item = (pk: string) =>
  new PutItemCommand({ TableName: "items", Item: { pk: { S: pk }, text: { S: "é\u0000😀" } } });
const get = (pk: string) => new GetItemCommand({ TableName: "items", Key: { pk: { S: pk } }, ConsistentRead: true });

test("the local DynamoDB accepts requests of the AWS SDK with the data folder's key, and refuses another key", async () => {
  const server = await open();
  await clientOf(server).send(table);
  await clientOf(server).send(item("a"));
  const answer = await clientOf(server).send(get("a"));
  expect(answer.Item?.text).toEqual({ S: "é\u0000😀" });
  expect(answer.$metadata.requestId).toBeTruthy();
  await expect(clientOf(server, { ...key, accessKeyId: "other" }).send(get("a"))).rejects.toMatchObject({
    name: "UnrecognizedClientException",
    message: "The security token included in the request is invalid.",
    $metadata: { httpStatusCode: 400 },
  });
});

test("the local DynamoDB refuses a request with the id of the data folder's key and another secret", async () => {
  const server = await open();
  await expect(clientOf(server, { ...key, secretAccessKey: "anything" }).send(table)).rejects.toMatchObject({
    name: "InvalidSignatureException",
    message: expect.stringContaining("Check your AWS Secret Access Key and signing method"),
    $metadata: { httpStatusCode: 400 },
  });
  await expect(clientOf(server).send(new ListTablesCommand({}))).resolves.toMatchObject({ TableNames: [] });
});

test("the local DynamoDB refuses a body that differs from the signed body", async () => {
  const { url } = await open();
  const init = { method: "POST", body: "{}", headers: { "x-amz-target": "DynamoDB_20120810.ListTables" } };
  const headers = signedHeaders("dynamodb", key, url, init);
  expect((await fetch(url, { ...init, headers })).status).toBe(200);
  const changed = await fetch(url, { ...init, headers, body: '{"Limit":1}' });
  expect([changed.status, await changed.text()]).toEqual([400, expect.stringContaining("InvalidSignatureException")]);
});

test("the local DynamoDB refuses a request without a signature", async () => {
  const { url } = await open();
  const headers = { "x-amz-target": "DynamoDB_20120810.ListTables", "content-type": "application/x-amz-json-1.0" };
  const answer = await fetch(url, { method: "POST", headers, body: "{}" });
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain("MissingAuthenticationTokenException");
});

test("the local DynamoDB calls its option `faults` for every accepted request", async () => {
  const seen: DynamoDbRequest[] = [];
  const server = await open({ faults: (request) => void seen.push(request) });
  await clientOf(server).send(new ListTablesCommand({}));
  await clientOf(server, { ...key, accessKeyId: "other" })
    .send(new ListTablesCommand({}))
    .catch(() => undefined);
  expect(seen).toEqual([{ operation: "ListTables", text: "{}" }]);
});

test.each([
  ["throttle", "ProvisionedThroughputExceededException", 400],
  ["error", "InternalServerError", 500],
] as const)(
  "the injected fault `%s` makes a DynamoDB request fail before it has an effect",
  async (fault, name, status) => {
    let isFaulty = false;
    const server = await open({ faults: ({ operation }) => (isFaulty && operation === "PutItem" ? fault : undefined) });
    const client = clientOf(server);
    await client.send(table);
    isFaulty = true;
    await expect(client.send(item("a"))).rejects.toMatchObject({ name, $metadata: { httpStatusCode: status } });
    expect((await client.send(get("a"))).Item).toBeUndefined();
  },
);

test("the injected fault `lost` replaces a DynamoDB response by an error after the request had its effect", async () => {
  const server = await open({ faults: ({ operation }) => (operation === "PutItem" ? "lost" : undefined) });
  const client = clientOf(server);
  await client.send(table);
  await expect(client.send(item("a"))).rejects.toMatchObject({ $metadata: { httpStatusCode: 500 } });
  expect((await client.send(get("a"))).Item?.pk).toEqual({ S: "a" });
});

test("the local DynamoDB keeps its tables and items over a restart", async () => {
  const dataDir = await folder();
  const first = await open({ dataDir });
  await clientOf(first).send(table);
  await clientOf(first).send(item("kept"));
  await first.close();
  const second = await open({ dataDir });
  expect((await clientOf(second).send(get("kept"))).Item?.pk).toEqual({ S: "kept" });
});

test("the local DynamoDB refuses to open a folder in use, and does not disturb the process that uses it", async () => {
  const dataDir = await folder();
  const owner = await open({ dataDir });
  await expect(openDynamoDb({ dataDir, ...key })).rejects.toThrow(/close the other process/);
  await expect(clientOf(owner).send(new ListTablesCommand({}))).resolves.toMatchObject({ TableNames: [] });
});
