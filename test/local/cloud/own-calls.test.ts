import {
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  InternalServerError,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import { createTable } from "@nova/aws";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { useOwnServices } from "../../../packages/aws/src/clients/own-services.ts";
import type { AwsServer } from "../../../packages/aws-local/src/aws-http/listen.ts";
import { type DynamoDbOptions, openDynamoDb } from "../../../packages/aws-local/src/dynamodb/server.ts";
import type { ControlCall } from "../../../packages/e2b-local/src/open.ts";
import { type OwnCall, serveOwnCalls, serveOwnSandboxes } from "../../../packages/local/src/cloud/counting.ts";

let faults: DynamoDbOptions["faults"];
let server: AwsServer;
let clients: DynamoDBClient[];
let seen: OwnCall[];
let stop: () => void;

beforeEach(async () => {
  [clients, seen, faults] = [[], [], undefined];
  server = await opened();
  stop = serveOwnCalls([server], (called) => seen.push(called));
});

afterEach(async () => {
  stop();
  for (const client of clients) client.destroy();
  await server.close();
});

function opened(): Promise<AwsServer> {
  const key = { accessKeyId: "mine", secretAccessKey: "secret" };
  return openDynamoDb({ dataDir: null, ...key, faults: (request) => faults?.(request) });
}

function clientWith(accessKeyId: string, endpoint = server.url): DynamoDBClient {
  const credentials = { accessKeyId, secretAccessKey: "secret" };
  const client = new DynamoDBClient({ endpoint, region: "us-east-1", credentials, maxAttempts: 2 });
  useOwnServices(client);
  clients.push(client);
  return client;
}

it("the local cloud performs the AWS calls of its own process without HTTP, and reports the operation and the input of each call", async () => {
  await createTable(clientWith("mine"), "items");
  expect(seen.find(({ operation }) => operation === "CreateTable")).toMatchObject({
    port: Number(new URL(server.url).port),
    input: { TableName: "items" },
    isStored: true,
  });
});

it("the local cloud refuses an access key that does not belong to the data folder", async () => {
  await expect(createTable(clientWith("another's"), "items")).rejects.toThrow("security token");
  expect(seen).toEqual([]);
});

it.each(["throttle", "error", "lost"] as const)(
  "a call of the local DynamoDB without HTTP is retried by the AWS SDK after the fault %s",
  async (fault) => {
    await createTable(clientWith("mine"), "items");
    const given: (typeof fault | undefined)[] = [fault];
    faults = () => given.shift();
    const { Table } = await clientWith("mine").send(new DescribeTableCommand({ TableName: "items" }));
    expect(Table?.TableStatus).toBe("ACTIVE");
    expect(given).toEqual([]);
  },
);

it("a call of the local DynamoDB without HTTP throws an error of the AWS SDK if every retry fails", async () => {
  faults = () => "error";
  const describe = new DescribeTableCommand({ TableName: "items" });
  await expect(clientWith("mine").send(describe)).rejects.toThrow(InternalServerError);
});

it("the local DynamoDB refuses calls without HTTP after its close, and causes no warning about its database", async () => {
  using warning = vi.spyOn(process, "emitWarning");
  const other = await opened();
  const stopOther = serveOwnCalls([other], () => {});
  const client = new DynamoDBClient({
    endpoint: other.url,
    region: "us-east-1",
    credentials: { accessKeyId: "mine", secretAccessKey: "secret" },
    maxAttempts: 1,
  });
  useOwnServices(client);
  clients.push(client);
  await other.close();
  const asking = createTable(client, "items");
  await expect(asking).rejects.toMatchObject({ name: "ServiceUnavailable", message: "The local DynamoDB is closed." });
  expect(warning).not.toHaveBeenCalled();
  stopOther();
});

it("the global fetch calls the sandboxes and E2B's control plane in this process without HTTP until the local cloud stops", async () => {
  const over = vi.fn(async () => new Response("over HTTP"));
  vi.stubGlobal("fetch", over);
  const cells: unknown[] = [];
  const calls: unknown[] = [];
  const counter = { onCell: (cell: unknown) => cells.push(cell), onControl: (call: unknown) => calls.push(call) };
  const execute = async () => new Response("directly");
  const callControlPlane = async ({ method, url, apiKey, json }: ControlCall) =>
    Response.json({ method, url, apiKey, json });
  const serve = (url: string) =>
    serveOwnSandboxes({ apiUrl: url, sandboxUrl: url, execute, callControlPlane }, counter);
  const stopServing = serve("http://127.0.0.1:1");
  const ask = async (path: string) => (await fetch(`http://127.0.0.1:1${path}`, { method: "POST", body: "{}" })).text();
  expect([await ask("/execute"), await ask("/contexts")]).toEqual(["directly", "over HTTP"]);
  expect(cells).toEqual([{ method: "POST", body: "{}" }]);
  const control = (headers: Record<string, string>) =>
    new Request("http://127.0.0.1:1/sandboxes/i1?a=b", { method: "POST", body: "{}", headers });
  const call = { url: "/sandboxes/i1?a=b", json: "{}" };
  expect(await (await fetch(control({ "X-API-KEY": "k" }))).json()).toEqual({ ...call, method: "POST", apiKey: "k" });
  expect(await (await fetch(control({ "E2b-Sandbox-Id": "i1" }))).text()).toBe("over HTTP");
  expect(calls).toEqual([call]);
  const later = serve("http://127.0.0.1:2");
  stopServing();
  expect([await ask("/execute"), await (await fetch(control({}))).text()]).toEqual(["over HTTP", "over HTTP"]);
  later();
  stopServing();
  expect(await ask("/execute")).toBe("over HTTP");
  vi.unstubAllGlobals();
});

it("the local DynamoDB ignores undefined attributes of an item in a call without HTTP, as in a call over HTTP", async () => {
  const client = clientWith("mine");
  await createTable(client, "items");
  const Item = { pk: { S: "a" }, sk: { S: "b" }, n: { N: "1.0", S: undefined }, none: undefined } as never;
  await client.send(new PutItemCommand({ TableName: "items", Item }));
  const { Item: found } = await client.send(
    new GetItemCommand({ TableName: "items", Key: { pk: { S: "a" }, sk: { S: "b" } } }),
  );
  expect(found).toEqual({ pk: { S: "a" }, sk: { S: "b" }, n: { N: "1" } });
});
