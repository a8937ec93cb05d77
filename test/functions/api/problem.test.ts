import { InputsRefused, StoreUnavailable } from "@nova/engine";
import { createApi, type HttpEvent } from "@nova/functions/api";
import { Conflict, Refused, type ServicePorts, TooMany } from "@nova/service";
import { finding } from "@nova/workflow";
import { describe, expect, it, vi } from "vitest";
import { problemOf } from "../../../functions/api/http/problem.ts";

const { logged } = vi.hoisted(() => ({ logged: vi.fn() }));
vi.mock("../../../functions/app.ts", () => ({ logger: { error: logged, warn: () => undefined } }));

const context = { awsRequestId: "request-1", getRemainingTimeInMillis: () => 30_000 };
const key = `nova_${"0".repeat(26)}_${"A".repeat(43)}`;

function event(method: string, path: string): HttpEvent {
  return {
    version: "2.0",
    rawPath: path,
    rawQueryString: "",
    headers: { authorization: `Bearer ${key}` },
    requestContext: { http: { method, path } },
    isBase64Encoded: false,
  };
}

function failing(error: Error) {
  const keys = { get: () => Promise.reject(error) };
  return createApi(() => ({ keys }) as unknown as ServicePorts);
}

describe("an error in the handler of a route", () => {
  it("that is NOVA's own fault is logged, and the answer contains the request id but not the text of the error", async () => {
    const error = new RangeError("password hunter2");
    const answer = await failing(error)(event("GET", "/workflows"), context);
    expect([answer.statusCode, answer.headers["content-type"]]).toEqual([500, "application/problem+json"]);
    expect(answer.body).toContain("request-1");
    expect(answer.body).not.toContain("hunter2");
    expect(logged).toHaveBeenCalledWith("request failed", { request: "request-1", error });
  });

  it("about too many requests says when the API key can be used again", async () => {
    const answer = await failing(new TooMany(100, 10, 7))(event("GET", "/workflows"), context);
    expect([answer.statusCode, answer.headers["retry-after"]]).toEqual([429, "7"]);
    expect(JSON.parse(answer.body ?? "")).toMatchObject({ title: "Too many requests", status: 429 });
  });

  it("about a store that is unavailable says when to try again", async () => {
    const error = new StoreUnavailable("DynamoDB did not answer in time (SlowDown) - try again");
    const answer = await failing(error)(event("GET", "/workflows"), context);
    expect([answer.statusCode, answer.headers["retry-after"]]).toEqual([503, "1"]);
    expect(JSON.parse(answer.body ?? "")).toMatchObject({ title: "Unavailable", detail: error.message });
  });
});

describe("the problem document that answers a request", () => {
  const misfit = finding("NOVA502", "$", "the context has another shape");

  it.each([
    [new Conflict("taken"), { status: 409, title: "Conflict", detail: "taken" }],
    [new Refused("wrong", [misfit]), { status: 422, findings: [misfit] }],
    [new InputsRefused([misfit]), { status: 422, findings: [misfit] }],
    ["no error at all", { status: 500 }],
  ])("after the error %s is %j", (error, body) => {
    expect(problemOf(error, "request-1").body).toMatchObject({ type: "about:blank", ...body });
  });

  it("has no field `findings` if there are no findings", () => {
    expect(problemOf(new Refused("wrong"), "request-1").body).not.toHaveProperty("findings");
  });
});
