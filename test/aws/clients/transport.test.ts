import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  InternalServerError,
} from "@aws-sdk/client-dynamodb";
import { offerTransport } from "@nova/aws";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type HandedAnswer,
  type HandedRequest,
  useOfferedTransport,
} from "../../../packages/aws/src/clients/transport.ts";

let server: Server;
let url: string;
let arrived: number;
let client: DynamoDBClient;
let stop: () => void;

beforeEach(async () => {
  arrived = 0;
  server = createServer((_, response) => {
    arrived += 1;
    response.end('{"Item":{"via":{"S":"a socket"}}}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const credentials = { accessKeyId: "mine", secretAccessKey: "any" };
  client = new DynamoDBClient({ endpoint: url, region: "us-east-1", credentials, maxAttempts: 2 });
  useOfferedTransport(client);
  stop = () => undefined;
});

afterEach(() => {
  stop();
  client.destroy();
  server.close();
  server.closeAllConnections();
});

const get = new GetItemCommand({ TableName: "items", Key: { pk: { S: "ä😀" } } });
const answer = async (status: number, body: object): Promise<HandedAnswer> => ({
  status,
  headers: { "content-type": "application/x-amz-json-1.0" },
  body: Buffer.from(JSON.stringify(body)),
});
const found = (via: string) => answer(200, { Item: { via: { S: via } } });
const refused = (name: string, status: number) =>
  answer(status, { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: "no" });

describe("a transport that the process offers for an endpoint", () => {
  it("receives signed and serialised requests without a socket", async () => {
    const seen: HandedRequest[] = [];
    stop = offerTransport(url, (request) => {
      seen.push(request);
      return found("hand");
    });
    expect((await client.send(get)).Item).toEqual({ via: { S: "hand" } });
    expect(seen).toMatchObject([
      {
        method: "POST",
        headers: {
          authorization: expect.stringContaining("Credential=mine/"),
          "x-amz-target": "DynamoDB_20120810.GetItem",
        },
        body: '{"TableName":"items","Key":{"pk":{"S":"ä😀"}}}',
      },
    ]);
    expect(arrived).toBe(0);
  });

  it.each([
    ["a refusal, without a retry", refused("ConditionalCheckFailedException", 400), ConditionalCheckFailedException, 1],
    ["a server error, after a retry", refused("InternalServerError", 500), InternalServerError, 2],
  ])("makes the SDK throw the errors of the endpoint: %s", async (_what, given, error, attempts) => {
    let asked = 0;
    stop = offerTransport(url, () => {
      asked += 1;
      return given;
    });
    await expect(client.send(get)).rejects.toThrow(error);
    expect(asked).toBe(attempts);
  });

  it("publishes each request on the diagnostics channel", async () => {
    const seen: unknown[] = [];
    const watch = (request: unknown) => seen.push(request);
    subscribe("nova.request.handed-over", watch);
    stop = offerTransport(url, () => found("hand"));
    await client.send(get);
    unsubscribe("nova.request.handed-over", watch);
    expect(seen).toMatchObject([{ headers: { "x-amz-target": "DynamoDB_20120810.GetItem" } }]);
  });

  it("does not inherit the async context of the sender", async () => {
    const work = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    stop = offerTransport(url, () => {
      seen.push(work.getStore());
      return found("hand");
    });
    await work.run("a caller's", () => client.send(get));
    expect(seen).toEqual([undefined]);
  });

  it("lets timers fire between many requests", async () => {
    stop = offerTransport(url, () => found("hand"));
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    for (let i = 0; i < 100; i++) await client.send(get);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
  });
});

describe("the SDK's client", () => {
  it.each([
    ["the transport is offered for another endpoint", () => offerTransport("http://127.0.0.1:1", () => found("hand"))],
    [
      "the offer of the transport has ended",
      () => {
        offerTransport(url, () => found("hand"))();
        return () => undefined;
      },
    ],
  ])("sends its requests over a socket if %s", async (_what, serve) => {
    stop = serve();
    expect((await client.send(get)).Item).toEqual({ via: { S: "a socket" } });
    expect(arrived).toBe(1);
  });

  it("uses the newer of two transports for its endpoint after the older offer ends", async () => {
    const giveUp = offerTransport(url, () => found("a predecessor"));
    stop = offerTransport(url, () => found("hand"));
    giveUp();
    expect((await client.send(get)).Item).toEqual({ via: { S: "hand" } });
  });
});
