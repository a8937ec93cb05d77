import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { createTable } from "@nova/aws";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { useOfferedTransport } from "../../../packages/aws/src/clients/transport.ts";
import type { AwsServer } from "../../../packages/aws-local/src/aws-http/listen.ts";
import { openDynamoDb } from "../../../packages/aws-local/src/dynamodb/server.ts";
import { type AnsweredRequest, serveOwnRequests } from "../../../packages/local/src/cloud/counting.ts";

let server: AwsServer;
let clients: DynamoDBClient[];
let seen: AnsweredRequest[];
let stop: () => void;

beforeEach(async () => {
  [clients, seen] = [[], []];
  server = await opened();
  stop = serveOwnRequests([server], (answered) => seen.push(answered));
});

afterEach(async () => {
  stop();
  for (const client of clients) client.destroy();
  await server.close();
});

function opened(): Promise<AwsServer> {
  return openDynamoDb({ dataDir: null, accessKeyId: "mine", secretAccessKey: "secret" });
}

function clientWith(accessKeyId: string, endpoint = server.url): DynamoDBClient {
  const credentials = { accessKeyId, secretAccessKey: "any" };
  const client = new DynamoDBClient({ endpoint, region: "us-east-1", credentials, maxAttempts: 1 });
  useOfferedTransport(client);
  clients.push(client);
  return client;
}

it("the local cloud answers requests of its own process, and reports them like requests over HTTP", async () => {
  await createTable(clientWith("mine"), "items");
  const create = seen.find(({ request }) => request.headers["x-amz-target"] === "DynamoDB_20120810.CreateTable");
  expect(create).toMatchObject({
    port: Number(new URL(server.url).port),
    request: { method: "POST", url: "/" },
    status: 200,
    json: expect.stringContaining('"TableName":"items"'),
  });
});

it("the local cloud refuses a key that does not belong to the folder", async () => {
  await expect(createTable(clientWith("another's"), "items")).rejects.toThrow("security token");
  expect(seen.map(({ status }) => status)).toEqual([400]);
});

it("the local cloud answers an unfinished request with an error when the service closes, and prints no warning about the database", async () => {
  using warning = vi.spyOn(process, "emitWarning");
  const other = await opened();
  const stopOther = serveOwnRequests([other], () => {});
  const asking = createTable(clientWith("mine", other.url), "items");
  await other.close();
  await expect(asking).rejects.toMatchObject({ name: "ServiceUnavailable", message: "The local DynamoDB is closed." });
  expect(warning).not.toHaveBeenCalled();
  stopOther();
});
