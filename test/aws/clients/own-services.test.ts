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

describe("a service that this process offers", () => {
  it("receives the operation and the SDK's own object, without a socket", async () => {
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

  it("makes the SDK throw an error of its own class for a refusal, without a retry", async () => {
    stop = offer(refuse("ConditionalCheckFailedException", 400));
    const error = await client.send(get).catch((error) => error);
    expect(error).toBeInstanceOf(ConditionalCheckFailedException);
    expect(error).toMatchObject({ message: "no", $metadata: { httpStatusCode: 400, attempts: 1 } });
    expect(arrived).toBe(0);
  });

  it("makes the SDK retry a server error over HTTP", async () => {
    stop = offer(refuse("InternalServerError", 500));
    expect((await client.send(get)).Item).toEqual({ via: { S: "a socket" } });
    expect(arrived).toBe(1);
  });

  it("publishes each call on the diagnostics channel", async () => {
    const seen: unknown[] = [];
    const watch = (call: unknown) => seen.push(call);
    subscribe("nova.service.called", watch);
    stop = offer(found);
    await client.send(get);
    unsubscribe("nova.service.called", watch);
    expect(seen).toEqual([{ client: "DynamoDBClient", operation: "GetItem", input: get.input }]);
  });

  it("does not inherit the async context of the caller", async () => {
    const work = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    stop = offer((...call) => {
      seen.push(work.getStore());
      return found(...call);
    });
    await work.run("a caller's", () => client.send(get));
    expect(seen).toEqual([undefined]);
  });

  it("lets timers fire between calls that take long together", async () => {
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

  it("serves clients of Step Functions, which find it by the variable of their endpoint", async () => {
    process.env.AWS_ENDPOINT_URL_SFN = url;
    stop = offer(async (operation) => ({ status: operation }));
    const states = new SFNClient({ region: "us-east-1", credentials });
    useOwnServices(states);
    const { status } = await states.send(new DescribeExecutionCommand({ executionArn: "arn" }));
    delete process.env.AWS_ENDPOINT_URL_SFN;
    expect(status).toBe("DescribeExecution");
  });
});

describe("the SDK's client", () => {
  it.each<[string, () => () => void]>([
    ["the service is offered for another endpoint", () => offer(found, "mine", "http://127.0.0.1:1")],
    ["the service has another key", () => offer(found, "another's")],
    [
      "the offer has ended",
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

  it("uses the newer of two services for its endpoint after the older offer ends", async () => {
    const giveUp = offer(refuse("InternalServerError", 500));
    stop = offer(found);
    giveUp();
    expect((await client.send(get)).Item).toEqual({ via: { S: "a call" } });
  });
});
