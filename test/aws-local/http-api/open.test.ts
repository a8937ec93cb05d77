import { Agent, get, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  type HttpApi,
  type HttpApiAnswer,
  type HttpApiEvent,
  openHttpApi,
} from "../../../packages/aws-local/src/http-api/open.ts";

let api: HttpApi;
let events: HttpApiEvent[];
let failures: unknown[];

async function open(answer: HttpApiAnswer | (() => Promise<HttpApiAnswer>) = { statusCode: 204 }): Promise<string> {
  events = [];
  failures = [];
  api = await openHttpApi({
    onFailure: (error) => failures.push(error),
    async handler(event, context) {
      expect(context.getRemainingTimeInMillis()).toBeGreaterThan(20_000);
      events.push(event);
      return typeof answer === "function" ? answer() : answer;
    },
  });
  return api.url;
}

afterEach(() => api.close());

it("an answer that AWS Lambda would refuse becomes a response with status 500, and is reported as a failure", async () => {
  const url = await open({ statusCode: 200, body: '"'.repeat(4_000_000) });
  expect((await fetch(url)).status).toBe(500);
  expect(failures).toEqual([expect.objectContaining({ message: expect.stringMatching(/bytes as JSON/) })]);
});

it("a closing HTTP API answers the requests in progress, and accepts no further request on their connections", async () => {
  const { promise: mayAnswer, resolve: answer } = Promise.withResolvers<HttpApiAnswer>();
  const url = await open(() => mayAnswer);
  const agent = new Agent({ keepAlive: true });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { agent }, resolve).on("error", reject);
  });
  await vi.waitFor(() => expect(events).toHaveLength(1));
  const closed = api.close();
  answer({ statusCode: 204 });
  const { statusCode, headers } = await answered;
  expect([statusCode, headers.connection]).toEqual([204, "close"]);
  await closed;
});

describe("a request to the local HTTP API", () => {
  it("reaches the Lambda as an event of payload format 2.0 with an unchanged path", async () => {
    const url = await open();
    await fetch(`${url}/a%20b/c?x=1&x=2&y=%C3%A4`, { headers: { "X-Api-Key": "k" } });
    expect(events).toMatchObject([
      {
        version: "2.0",
        rawPath: "/a%20b/c",
        rawQueryString: "x=1&x=2&y=%C3%A4",
        queryStringParameters: { x: "1,2", y: "\u00e4" },
        headers: { "x-api-key": "k" },
        requestContext: { http: { method: "GET", path: "/a%20b/c", protocol: "HTTP/1.1" }, stage: "$default" },
        isBase64Encoded: false,
      },
    ]);
    expect(events[0]).not.toHaveProperty("body");
  });

  it.each([
    ["application/json", '{"n": 850.0}', false],
    ["application/problem+json; charset=utf-8", "{}", false],
    ["text/plain", "\u00e4", false],
    ["application/octet-stream", "\u0000\u0001", true],
  ])("with the content type %s has its body in the event as text or as base64", async (type, body, isBase64Encoded) => {
    const url = await open();
    await fetch(url, { method: "POST", headers: { "content-type": type }, body });
    const sent = isBase64Encoded ? Buffer.from(body).toString("base64") : body;
    expect(events).toMatchObject([{ body: sent, isBase64Encoded }]);
  });

  it("with a text that is not UTF-8 has its body in the event as base64", async () => {
    const url = await open();
    const body = Buffer.from('{"name":"M\u00fcller"}', "latin1");
    await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
    expect(events).toMatchObject([{ body: body.toString("base64"), isBase64Encoded: true }]);
  });

  it("has its repeated headers in the event, joined by commas", async () => {
    const url = await open();
    const { port } = new URL(url);
    const socket = connect(Number(port), "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nhost: localhost\r\nx-one: a\r\nx-one: b\r\nconnection: close\r\n\r\n");
    await new Promise((resolve) => socket.resume().once("close", resolve));
    expect(events[0]?.headers["x-one"]).toBe("a,b");
  });

  it("of more than ten megabytes never reaches the Lambda", async () => {
    const url = await open();
    const answer = await fetch(url, { method: "POST", body: new Uint8Array(10 * 1024 * 1024 + 1) });
    expect([answer.status, await answer.json(), events]).toEqual([413, { message: "Request Too Long" }, []]);
  });
});

describe("an answer of the local HTTP API", () => {
  it("contains the status, the headers and the text that the Lambda returned", async () => {
    const url = await open({ statusCode: 201, headers: { location: "/x" }, body: "\u00e4" });
    const answer = await fetch(url);
    expect([answer.status, answer.headers.get("location"), await answer.text()]).toEqual([201, "/x", "\u00e4"]);
  });

  it("contains bytes if the Lambda returned base64", async () => {
    const url = await open({ statusCode: 200, body: Buffer.from([0, 255]).toString("base64"), isBase64Encoded: true });
    expect(new Uint8Array(await (await fetch(url)).arrayBuffer())).toEqual(new Uint8Array([0, 255]));
  });

  it("with the status 204 (no content) has no content-length", async () => {
    const answer = await fetch(await open({ statusCode: 204 }));
    expect([answer.status, answer.headers.get("content-length")]).toEqual([204, null]);
  });

  it("has the status 500 and no details if the Lambda throws an error", async () => {
    const url = await open(() => Promise.reject(new RangeError("a secret")));
    const answer = await fetch(url);
    expect([answer.status, await answer.text()]).toEqual([500, '{"message":"Internal Server Error"}']);
    expect(failures).toMatchObject([{ message: "a secret" }]);
  });
});

describe("a closing HTTP API", () => {
  it("waits for the response in progress", async () => {
    const [asked, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const url = await open(async () => {
      asked.resolve();
      await go.promise;
      return { statusCode: 200, body: "done" };
    });
    const answer = fetch(url, { headers: { connection: "close" } });
    await asked.promise;
    const closed = api.close();
    go.resolve();
    expect(await (await answer).text()).toBe("done");
    await closed;
  });
});
