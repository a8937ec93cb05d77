import { request } from "node:http";
import { text } from "node:stream/consumers";
import { openApi } from "@nova/local";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { HttpApiHandler } from "../../../packages/aws-local/src/http-api/open.ts";
import { Capacity } from "../../../packages/aws-local/src/states/capacity.ts";
import { limitConcurrency } from "../../../packages/local/src/api/open-api.ts";
import { openTestCloud } from "../../support/cloud.ts";

/** Sends a GET with the host name `host`, and returns the status and the body. */
function ask(url: string, host: string): Promise<[status: number | undefined, body: string]> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const sent = request({ hostname, port, headers: { host }, setHost: false }, async (response) => {
      resolve([response.statusCode, await text(response)]);
    });
    sent.on("error", reject).end();
  });
}

describe("the local API of `nova local`", () => {
  it("refuses an unknown host name at each of its addresses", async () => {
    const cloud = await openTestCloud();
    const api = await openApi(cloud, { port: 0 });
    const urls = Object.values(cloud.environment).filter((value) => value.startsWith("http://127.0.0.1:"));
    const asked = [...new Set([...urls, api.url])].map((url) => ask(url, "evil.example"));
    const statuses = await Promise.all(asked).finally(async () => {
      await api.close();
      await cloud.close();
    });
    expect(statuses.length).toBeGreaterThanOrEqual(8);
    expect(new Set(statuses.map(([status]) => status))).toEqual(new Set([421]));
  });

  it("says how to allow a host name when it refuses that host name", async () => {
    const cloud = await openTestCloud();
    const api = await openApi(cloud, { port: 0 });
    const [, body] = await ask(api.url, "evil.example");
    await api.close();
    await cloud.close();
    expect(JSON.parse(body).message).toMatch(/^this server answers .*"evil.example" - .*nova dev with --host/);
  });

  it("fails with a message about the port if another server uses this port", async () => {
    const cloud = await openTestCloud();
    const first = await openApi(cloud, { port: 0 });
    const port = Number(new URL(first.url).port);
    const message = `port ${port} is taken - end what listens there, or choose another one with --port`;
    await expect(openApi(cloud, { port })).rejects.toMatchObject({ name: "LocalCloudError", message });
    await first.close();
    await cloud.close();
  });
});

const settled = () => new Promise(setImmediate);

/**
 * Returns an API that handles at most two requests at the same time. The test decides when each request is answered.
 */
function api() {
  const begun: string[] = [];
  const answers: (() => void)[] = [];
  const left: number[] = [];
  const handler: HttpApiHandler = async ({ rawPath }, { getRemainingTimeInMillis }) => {
    begun.push(rawPath);
    left.push(getRemainingTimeInMillis());
    const { promise, resolve } = Promise.withResolvers<void>();
    answers.push(resolve);
    await promise;
    return { statusCode: 200 };
  };
  // Reports that no processor is idle, so that no third request starts.
  const capacity = new Capacity<object>(2, () => ({ idleMs: 0, allMs: Date.now() }));
  const held: string[] = [];
  const holdWork = ({ startsRun }: { startsRun: boolean }) => {
    held.push(startsRun ? "start" : "read");
    return () => void held.push("end");
  };
  const turns = limitConcurrency(handler, { holdWork }, capacity);
  const since = Date.now();
  const ask = (key: string, rawPath: string, rawQueryString = "", method = "GET") => {
    const headers = { authorization: key };
    const http = { method, path: rawPath, protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: "" };
    const requestContext = { http, requestId: "", stage: "$default" as const, time: "", timeEpoch: 0 };
    const event = { version: "2.0" as const, routeKey: "$default" as const, rawPath, rawQueryString, headers };
    const context = { awsRequestId: rawPath, getRemainingTimeInMillis: () => 1_000 - (Date.now() - since) };
    return turns({ ...event, requestContext, isBase64Encoded: false }, context);
  };
  return { begun, answers, left, held, ask };
}

describe("requests to the local API", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] });
  });

  afterEach(() => {
    vi.useRealTimers();
  });

  it("with one API key do not wait for all earlier requests with another key", async () => {
    const { begun, answers, ask } = api();
    for (const number of [1, 2, 3, 4]) ask("flood", `/flood/${number}`);
    const other = ask("other", "/other");
    await settled();
    expect(begun).toEqual(["/flood/1", "/flood/2"]);
    answers[0]?.();
    await settled();
    expect(begun).toEqual(["/flood/1", "/flood/2", "/other"]);
    answers[2]?.();
    expect(await other).toEqual({ statusCode: 200 });
    await settled();
    expect(begun).toEqual(["/flood/1", "/flood/2", "/other", "/flood/3"]);
  });

  it("that only wait for the end of a run do not count as running requests", async () => {
    const { begun, ask } = api();
    for (const number of [1, 2, 3]) ask("one", `/${number}`, "wait=25");
    ask("one", "/get");
    await settled();
    expect(begun).toEqual(["/1", "/2", "/3", "/get"]);
  });

  it("start after half a second even if earlier requests with the same key still run", async () => {
    const { begun, ask } = api();
    for (const number of [1, 2, 3]) ask("one", `/${number}`);
    await vi.advanceTimersByTimeAsync(499);
    expect(begun).toEqual(["/1", "/2"]);
    await vi.advanceTimersByTimeAsync(2);
    expect(begun).toEqual(["/1", "/2", "/3"]);
  });

  it.each([
    ["GET", "/executions/exec_1/verify", "", ["read", "end"]],
    ["GET", "/executions", "limit=1&awaited=wait", ["read", "end"]],
    ["GET", "/executions/exec_1", "wait=20", []],
    ["POST", "/workflows/tax/execute", "", ["start", "end"]],
    ["POST", "/executions/exec_1/restart", "dry=1", ["start", "end"]],
    ["POST", "/workflows/tax/execute", "client=acme&wait=5", []],
    ["POST", "/sessions/s_1/run", "", []],
  ])("such as %s %s?%s cause these events of a hold on the work of runs: %j", async (method, path, query, expected) => {
    const { held, answers, ask } = api();
    const answered = ask("one", path, query, method);
    await settled();
    expect(held).toEqual(expected.slice(0, 1));
    answers[0]?.();
    await answered;
    expect(held).toEqual(expected);
  });

  it("delay the work of runs while they wait for other requests, and for at most half a second after their own start", async () => {
    const { held, ask } = api();
    for (const number of [1, 2, 3]) ask("one", `/${number}`);
    await vi.advanceTimersByTimeAsync(499);
    expect(held).toEqual(["read", "read", "read"]);
    await vi.advanceTimersByTimeAsync(2);
    expect(held).toEqual(["read", "read", "read", "end", "end"]);
    await vi.advanceTimersByTimeAsync(500);
    expect(held.slice(5)).toEqual(["end"]);
  });

  it("have their full time limit, which starts when they no longer wait for other requests", async () => {
    const { answers, left, ask } = api();
    for (const number of [1, 2, 3]) ask("one", `/${number}`);
    await vi.advanceTimersByTimeAsync(30);
    answers[1]?.();
    await settled();
    expect(left).toEqual([1_000, 1_000, 1_000]);
  });
});
