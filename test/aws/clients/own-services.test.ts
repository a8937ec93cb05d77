import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { ConditionalCheckFailedException, DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { DescribeExecutionCommand, SFNClient } from "@aws-sdk/client-sfn";
import { offerService } from "@nova/aws";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { useOwnServices } from "../../../packages/aws/src/clients/own-services.ts";

let server: Server;
let url: string;
let arrived: number;
let client: DynamoDBClient;
let stop: () => void;
const credentials = { accessKeyId: "mine", secretAccessKey: "any" };

beforeEach(async () => {
  arrived = 0;
  server = createServer((_, response) => {
    arrived += 1;
    response.end('{"Item":{"via":{"S":"a socket"}}}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = new DynamoDBClient({ endpoint: url, region: "us-east-1", credentials, maxAttempts: 2 });
  useOwnServices(client);
  stop = () => undefined;
});

afterEach(() => {
  stop();
  delete process.env.NOVA_WIRE;
  client.destroy();
  server.close();
  server.closeAllConnections();
});

const get = new GetItemCommand({ TableName: "items", Key: { pk: { S: "ä😀" } } });

type Perform = (operation: string, input: object) => Promise<object>;
const offer = (perform: Perform, accessKeyId = "mine", at = url) => offerService(at, { accessKeyId, perform });
const found: Perform = async () => ({ Item: { via: { S: "a call" } } });
const refuse = (name: string, status: number) => async () => {
  throw Object.assign(new Error("no"), { name, status });
};

describe("an AWS service that this process itself offers", () => {
  it("gets the name of the operation and the input object from the SDK directly, without a socket", async () => {
    const seen: unknown[] = [];
    stop = offer((...call) => {
      seen.push(call);
      return found(...call);
    });
    expect((await client.send(get)).Item).toEqual({ via: { S: "a call" } });
    expect(seen).toEqual([["GetItem", get.input]]);
    expect((seen[0] as unknown[])[1]).toBe(get.input);
    expect(arrived).toBe(0);
  });

  it("refuses a call with an error that the SDK converts to its own error class and throws without a retry", async () => {
    stop = offer(refuse("ConditionalCheckFailedException", 400));
    const error = await client.send(get).catch((error) => error);
    expect(error).toBeInstanceOf(ConditionalCheckFailedException);
    expect(error).toMatchObject({ message: "no", $metadata: { httpStatusCode: 400, attempts: 1 } });
    expect(arrived).toBe(0);
  });

  it("makes the SDK retry over HTTP if it returns a server error", async () => {
    stop = offer(refuse("InternalServerError", 500));
    expect((await client.send(get)).Item).toEqual({ via: { S: "a socket" } });
    expect(arrived).toBe(1);
  });

  it("publishes each call on a diagnostics channel of Node", async () => {
    const seen: unknown[] = [];
    const watch = (call: unknown) => seen.push(call);
    subscribe("nova.service.called", watch);
    stop = offer(found);
    await client.send(get);
    unsubscribe("nova.service.called", watch);
    expect(seen).toEqual([{ client: "DynamoDBClient", operation: "GetItem", input: get.input }]);
  });

  it("does not run in the async context (AsyncLocalStorage) of its caller", async () => {
    const work = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    stop = offer((...call) => {
      seen.push(work.getStore());
      return found(...call);
    });
    await work.run("a caller's", () => client.send(get));
    expect(seen).toEqual([undefined]);
  });

  it("lets pending timers run between many calls in a row", async () => {
    stop = offer((...call) => {
      const until = performance.now() + 2;
      while (performance.now() < until);
      return found(...call);
    });
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    for (let i = 0; i < 20; i++) await client.send(get);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(1);
  });

  it("is found by a client of Step Functions through the environment variable for its endpoint", async () => {
    process.env.AWS_ENDPOINT_URL_SFN = url;
    stop = offer(async (operation) => ({ status: operation }));
    const states = new SFNClient({ region: "us-east-1", credentials });
    useOwnServices(states);
    const { status } = await states.send(new DescribeExecutionCommand({ executionArn: "arn" }));
    delete process.env.AWS_ENDPOINT_URL_SFN;
    expect(status).toBe("DescribeExecution");
  });
});

describe("a client of the AWS SDK", () => {
  it.each<[string, () => () => void]>([
    ["the service in this process is offered for another endpoint", () => offer(found, "mine", "http://127.0.0.1:1")],
    ["the service in this process has another access key", () => offer(found, "another's")],
    [
      "the service in this process is no longer offered",
      () => {
        offer(found)();
        return () => undefined;
      },
    ],
    [
      "NOVA_WIRE is 1",
      () => {
        process.env.NOVA_WIRE = "1";
        return offer(found);
      },
    ],
  ])("sends its requests over a socket if %s", async (_what, serve) => {
    stop = serve();
    expect((await client.send(get)).Item).toEqual({ via: { S: "a socket" } });
    expect(arrived).toBe(1);
  });

  it("calls the newer of two services in this process, even after the process has stopped offering the older service", async () => {
    const giveUp = offer(refuse("InternalServerError", 500));
    stop = offer(found);
    giveUp();
    expect((await client.send(get)).Item).toEqual({ via: { S: "a call" } });
  });
});
