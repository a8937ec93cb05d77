import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type ClientRequest, type IncomingMessage, request, type Server } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openHttpApi } from "../../../packages/aws-local/src/http-api/open.ts";
import type { Endpoints } from "../../../packages/local/src/cloud/owner-file.ts";
import { signedHeaders } from "../../aws-local/support/signed.ts";
import { openTestCloud, type TestCloud } from "../../support/cloud.ts";

const servers = vi.hoisted(() => [] as Server[]);

vi.mock("node:http", async (original) => {
  const http = await original<typeof import("node:http")>();
  const createServer = (...given: Parameters<typeof http.createServer>) => {
    const server = http.createServer(...given);
    servers.push(server);
    return server;
  };
  return { ...http, createServer, default: { ...http, createServer } };
});

const gigabyte = 1024 ** 3;
const megabyte = 1024 ** 2;

let cloud: TestCloud;
let api: Awaited<ReturnType<typeof openHttpApi>>;
let endpoints: Endpoints;

beforeAll(async () => {
  cloud = await openTestCloud();
  api = await openHttpApi({ handler: () => Promise.reject(new RangeError("nobody is called")) });
  endpoints = JSON.parse(readFileSync(join(cloud.dataDir, "owner.json"), "utf8")).endpoints;
});
afterAll(async () => {
  await api?.close();
  await cloud?.close();
});

/**
 * Sends the headers of a request, and the part of the body that `write` sends. Returns the response to the unfinished
 * body.
 */
async function ask(url: string, headers: object, write: (to: ClientRequest) => void = () => undefined) {
  const asking = request(url, { method: "POST", headers: { ...headers } });
  asking.flushHeaders();
  write(asking);
  const [answer] = (await once(asking, "response")) as [IncomingMessage];
  const said = { status: answer.statusCode, body: await text(answer) };
  asking.on("error", () => undefined).destroy();
  return said;
}

const key = () => ({
  accessKeyId: process.env.AWS_ACCESS_KEY_ID ?? "",
  secretAccessKey: process.env.AWS_SECRET_ACCESS_KEY ?? "",
});

describe("a server of the local cloud", () => {
  it.each<[keyof Endpoints, number]>([
    ["dynamodb", 400],
    ["s3", 403],
    ["states", 403],
    ["eventbridge", 403],
    ["scheduler", 403],
    ["sesv2", 403],
    ["e2bApi", 401],
    ["admin", 401],
  ])(
    "(%s) refuses a client without the access key as soon as the client announces a body of a gigabyte",
    async (name, status) => {
      expect(await ask(endpoints[name], { "content-length": gigabyte })).toMatchObject({ status });
    },
  );

  it("(API) refuses a client as soon as the client announces a body of a gigabyte", async () => {
    expect(await ask(api.url, { "content-length": gigabyte })).toMatchObject({ status: 413 });
  });

  it.each<[keyof Endpoints, string, number]>([
    ["dynamodb", "dynamodb", 16],
    ["states", "states", 8],
    ["eventbridge", "events", 2],
    ["scheduler", "scheduler", 2],
    ["sesv2", "ses", 2],
  ])(
    "(%s) refuses a body that is longer than AWS accepts, even from a client with the access key",
    async (name, service, megabytes) => {
      const headers = signedHeaders(service, key(), `${endpoints[name]}/`, { method: "POST" });
      const tooLarge = { status: 413, body: expect.stringContaining("RequestEntityTooLarge") };
      expect(await ask(endpoints[name], { ...headers, "content-length": gigabyte })).toMatchObject(tooLarge);
      const chunk = Buffer.alloc(megabyte, " ");
      const write = (to: ClientRequest) => {
        for (let sent = 0; sent <= megabytes; sent++) to.write(chunk);
      };
      expect(await ask(endpoints[name], { ...headers, "transfer-encoding": "chunked" }, write)).toMatchObject(tooLarge);
    },
  );

  it("limits the time in which a client has to send the head and the body of a request", () => {
    expect(servers.length).toBeGreaterThanOrEqual(9);
    for (const { headersTimeout, requestTimeout } of servers) {
      expect(headersTimeout).toBeGreaterThan(0);
      expect(headersTimeout).toBeLessThanOrEqual(60_000);
      expect(requestTimeout).toBeGreaterThan(0);
      expect(requestTimeout).toBeLessThanOrEqual(3_600_000);
    }
  });
});
