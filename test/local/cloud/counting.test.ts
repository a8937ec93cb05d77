import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  CounterBook,
  type RequestCounter,
  requestCounter,
  tapRequests,
} from "../../../packages/local/src/cloud/counting.ts";

const execution = "exec_01KATESTTESTTESTTESTTESTT1";
const services = ["dynamodb", "s3", "states", "e2bApi"] as const;

let servers: Server[];
let urls: Record<(typeof services)[number], string>;
let book: CounterBook;
let counter: RequestCounter;
let stop: () => void;

beforeEach(async () => {
  servers = services.map(() => createServer((request, response) => answer(request.url ?? "", response)));
  const listening = servers.map((server) => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
  await Promise.all(listening);
  const addresses = servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  urls = Object.fromEntries(services.map((service, index) => [service, addresses[index]])) as typeof urls;
  book = new CounterBook();
  const sandboxes = () => [{ id: "ione", metadata: { execution }, startedAt: new Date() }];
  counter = requestCounter(book, urls, { sandboxes });
  stop = tapRequests(counter.onAnswered);
});

afterEach(() => {
  stop();
  for (const server of servers) server.close();
});

function answer(url: string, response: { writeHead(status: number): unknown; end(): unknown }): void {
  response.writeHead(url.includes("taken") ? 412 : 200);
  response.end();
}

function dynamodb(operation: string, body: string): RequestInit {
  const headers = { "content-type": "application/x-amz-json-1.0", "x-amz-target": `DynamoDB_20120810.${operation}` };
  return { method: "POST", headers, body };
}

const item = JSON.stringify({ Item: { pk: { S: `${execution}#` } } });
const put = (bytes: number): RequestInit => ({ method: "PUT", body: Buffer.alloc(bytes) });
const toSandbox = { headers: { "e2b-sandbox-id": "ione" } };

describe("an HTTP request to the local cloud, sent for one execution,", () => {
  it.each<[string, (typeof services)[number], string, RequestInit, object]>([
    ["the write of an item", "dynamodb", "/", dynamodb("PutItem", item), { dynamodb: 1, bytes: item.length }],
    ["a query", "dynamodb", "/", dynamodb("Query", item), { dynamodb: 1 }],
    ["the write of a blob", "s3", `/nova/blobs/default/${execution}/abc`, put(500), { s3: 1, bytes: 500 }],
    ["the write of a blob that exists already", "s3", `/nova/blobs/default/${execution}/taken`, put(500), { s3: 1 }],
    ["the start of the execution", "states", "/", dynamodb("StartExecution", `{"name":"${execution}"}`), { states: 1 }],
    [
      "the request for a new sandbox",
      "e2bApi",
      "/v2/sandboxes",
      dynamodb("", `{"metadata":{"x":"${execution}"}}`),
      { sandbox: 1 },
    ],
    ["the extension of its sandbox's life", "e2bApi", "/sandboxes/ione/timeout", {}, { sandbox: 1 }],
    ["the start of code in its sandbox", "e2bApi", "/execute", toSandbox, { sandbox: 1 }],
    ["not counted: the extension of another execution's sandbox", "e2bApi", "/sandboxes/iother", {}, {}],
    [
      "not counted: the write of another execution's blob",
      "s3",
      "/nova/blobs/default/exec_01KATESTTESTTESTTESTTESTT2/abc",
      put(5),
      {},
    ],
  ])("is counted only for the execution that it names: %s", async (_, service, path, request, counted) => {
    await fetch(urls[service] + path, request);
    const { aws_calls, sandbox_calls, bytes_stored } = book.of(execution);
    const expected = { dynamodb: 0, s3: 0, states: 0, sandbox: 0, bytes: 0, ...counted };
    expect({ ...aws_calls, sandbox: sandbox_calls, bytes: bytes_stored }).toEqual(expected);
  });
});

describe("a direct call of the local cloud in its own process, made for one execution,", () => {
  const Item = { pk: { S: `${execution}#` } };
  it.each<[string, (typeof services)[number], string, boolean, object]>([
    ["the write of an item", "dynamodb", "PutItem", true, { dynamodb: 1, bytes: JSON.stringify({ Item }).length }],
    ["a refused write of an item", "dynamodb", "PutItem", false, { dynamodb: 1 }],
    ["a query", "dynamodb", "Query", true, { dynamodb: 1 }],
    ["the start of the execution", "states", "StartExecution", true, { states: 1 }],
  ])("is counted like an HTTP request: %s", (_, service, operation, isStored, counted) => {
    counter.onCalled({ port: Number(new URL(urls[service]).port), operation, input: { Item }, isStored });
    const { aws_calls, bytes_stored } = book.of(execution);
    expect({ ...aws_calls, bytes: bytes_stored }).toEqual({ dynamodb: 0, s3: 0, states: 0, bytes: 0, ...counted });
  });
});

describe("a direct call of the control plane, made for one execution,", () => {
  it.each([
    ["the request for a new sandbox", "/v2/sandboxes", `{"metadata":{"execution":"${execution}"}}`],
    ["the extension of its sandbox's life", "/v2/sandboxes/ione/connect", '{"timeout":100}'],
    ["the list of its sandboxes", `/v2/sandboxes?metadata=execution%3D${execution}`, ""],
  ])("is counted like an HTTP request: %s", (_, url, json) => {
    counter.onControl({ url, json });
    expect(book.of(execution).sandbox_calls).toBe(1);
  });
});

const one = "exec_01KATESTTESTTESTTESTTESTT1";
const two = "exec_01KATESTTESTTESTTESTTESTT2";

describe("the counters of an execution", () => {
  it("count each request with the id of the execution once, and the bytes that the request stores", () => {
    const book = new CounterBook();
    book.countAws("dynamodb", `{"pk":"${one}#","id":"${one}"}`, 100);
    book.countAws("dynamodb", `{"pk":"${one}#"}`, 0);
    book.countAws("s3", `/nova/blobs/default/${one}/abc`, 5_000);
    book.countAws("states", `{"name":"${two}"}`, 0);
    book.countSandbox(`{"metadata":{"execution":"${one}"}}`);
    expect(book.of(one)).toEqual({
      aws_calls: { dynamodb: 2, s3: 1, states: 0 },
      sandbox_calls: 1,
      bytes_stored: 5_100,
    });
    expect(book.of(two).aws_calls).toEqual({ dynamodb: 0, s3: 0, states: 1 });
  });

  it("are zero if no request named the execution", () => {
    expect(new CounterBook().of(one)).toEqual({
      aws_calls: { dynamodb: 0, s3: 0, states: 0 },
      sandbox_calls: 0,
      bytes_stored: 0,
    });
  });
});
