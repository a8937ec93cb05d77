import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { HttpApiHandler } from "../../../packages/aws-local/src/http-api/open.ts";
import { Capacity } from "../../../packages/aws-local/src/states/capacity.ts";
import { limitConcurrency } from "../../../packages/local/src/api/in-turns.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] });
});

afterEach(() => {
  vi.useRealTimers();
});

const settled = () => new Promise(setImmediate);

/** An API for two requests at the same time; the test decides when each is answered. */
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
  // No processor idles, so no further request starts.
  const turns = limitConcurrency(handler, new Capacity<object>(2, () => ({ idleMs: 0, allMs: Date.now() })));
  const since = Date.now();
  const ask = (key: string, rawPath: string, rawQueryString = "") => {
    const headers = { authorization: key };
    const http = { method: "GET", path: rawPath, protocol: "HTTP/1.1", sourceIp: "127.0.0.1", userAgent: "" };
    const requestContext = { http, requestId: "", stage: "$default" as const, time: "", timeEpoch: 0 };
    const event = { version: "2.0" as const, routeKey: "$default" as const, rawPath, rawQueryString, headers };
    const context = { awsRequestId: rawPath, getRemainingTimeInMillis: () => 1_000 - (Date.now() - since) };
    return turns({ ...event, requestContext, isBase64Encoded: false }, context);
  };
  return { begun, answers, left, ask };
}

describe("requests to the local API", () => {
  it("of another key do not wait for all earlier requests of one key", async () => {
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

  it("that wait for the end of a run take no turn", async () => {
    const { begun, ask } = api();
    for (const number of [1, 2, 3]) ask("one", `/${number}`, "wait=25");
    ask("one", "/get");
    await settled();
    expect(begun).toEqual(["/1", "/2", "/3", "/get"]);
  });

  it("that take long do not block others", async () => {
    const { begun, ask } = api();
    for (const number of [1, 2, 3]) ask("one", `/${number}`);
    await vi.advanceTimersByTimeAsync(499);
    expect(begun).toEqual(["/1", "/2"]);
    await vi.advanceTimersByTimeAsync(2);
    expect(begun).toEqual(["/1", "/2", "/3"]);
  });

  it("get their whole time from the start of their turn", async () => {
    const { answers, left, ask } = api();
    for (const number of [1, 2, 3]) ask("one", `/${number}`);
    await vi.advanceTimersByTimeAsync(30);
    answers[1]?.();
    await settled();
    expect(left).toEqual([1_000, 1_000, 1_000]);
  });
});
