import { hash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Access } from "../../../packages/aws-local/src/access/access.ts";
import { type Signing, signedHeaders } from "../support/signed.ts";

const key = { accessKeyId: "NOVAKEY", secretAccessKey: "secret" };
const url = "http://127.0.0.1:4000/schedules?NamePrefix=a%20b&Name=c";
const body = '{"a":1}';
const payload = hash("sha256", body);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-11-22T12:00:00Z") });
});
afterEach(() => {
  vi.useRealTimers();
});

function request(signing: Signing = {}, by = key) {
  const sent = { method: "POST", body, headers: { "x-amz-target": "AWSEvents.PutEvents", "x-other": "1" } };
  const headers = { ...signedHeaders("scheduler", by, url, sent, signing), host: "127.0.0.1:4000" };
  return { method: "POST", url: "/schedules?NamePrefix=a%20b&Name=c", headers };
}

type Sent = ReturnType<typeof request>;

const withHeader = (name: string, change: (value: string) => string) => (sent: Sent) => ({
  ...sent,
  headers: { ...sent.headers, [name]: change(String(sent.headers[name as "host"] ?? "")) },
});

describe("a request to the local AWS, signed with the key of the data folder,", () => {
  it("is accepted, for the first time and later with the cached signing key", () => {
    const access = new Access(key);
    expect([1, 2].map(() => access.refusalOf(request(), payload))).toEqual([undefined, undefined]);
  });

  it.each<[string, Signing]>([
    ["a quarter of an hour ago", { atMs: Date.parse("2026-11-22T11:45:00Z") }],
    ["by a clock that is a quarter of an hour ahead", { atMs: Date.parse("2026-11-22T12:15:00Z") }],
    ["except for a header that does not matter to the service", { leftOut: ["x-other"] }],
  ])("%s is accepted", (_, signing) => {
    expect(new Access(key).refusalOf(request(signing), payload)).toBeUndefined();
  });

  it("is accepted if the clocks of client and server were both set to another year", () => {
    vi.setSystemTime("2031-01-01T00:00:00Z");
    expect(new Access(key).refusalOf(request(), payload)).toBeUndefined();
  });

  it.each<[string, Signing, string]>([
    ["a second more than a quarter of an hour ago", { atMs: Date.parse("2026-11-22T11:44:59Z") }, "skewed"],
    ["a second more than a quarter of an hour ahead", { atMs: Date.parse("2026-11-22T12:15:01Z") }, "skewed"],
    ["with the signing key of another day", { day: "20261121" }, "forged"],
    ["without its host header", { leftOut: ["host"] }, "partial"],
    ["without the header that names the operation", { leftOut: ["x-amz-target"] }, "partial"],
  ])("%s is refused", (_, signing, refusal) => {
    expect(new Access(key).refusalOf(request(signing), payload)).toBe(refusal);
  });
});

describe("a request to the local AWS", () => {
  it.each<[string, (sent: Sent) => Sent, string]>([
    ["without a signature", withHeader("authorization", () => ""), "unsigned"],
    ["with only the key id", withHeader("authorization", () => "Credential=NOVAKEY/x"), "malformed"],
    ["without a time", withHeader("x-amz-date", () => "today"), "malformed"],
    ["with half a signature", withHeader("authorization", (value) => value.slice(0, -32)), "forged"],
    [
      "with a signature that is not hexadecimal",
      withHeader("authorization", (value) => `${value.slice(0, -1)}é`),
      "forged",
    ],
    ["whose operation was changed after signing", withHeader("x-amz-target", () => "AWSEvents.PutRule"), "forged"],
    ["whose host was changed after signing", withHeader("host", () => "127.0.0.1:4001"), "forged"],
    ["with an additional header that is not signed", withHeader("x-amz-copy-source", () => "/nova/secret"), "partial"],
    ["whose method was changed after signing", (sent) => ({ ...sent, method: "DELETE" }), "forged"],
    [
      "whose path was changed after signing",
      (sent) => ({ ...sent, url: sent.url.replace("schedules", "schedule-groups") }),
      "forged",
    ],
    ["whose query was changed after signing", (sent) => ({ ...sent, url: `${sent.url}d` }), "forged"],
  ])("%s is refused", (_, change, refusal) => {
    expect(new Access(key).refusalOf(change(request()), payload)).toBe(refusal);
  });

  it("is refused if its body differs from the signed body", () => {
    expect(new Access(key).refusalOf(request(), hash("sha256", '{"a":2}'))).toBe("forged");
  });

  it.each([
    ["another secret", { ...key, secretAccessKey: "anything" }, "forged"],
    ["an unknown key id", { ...key, accessKeyId: "NOVAKEY2" }, "stranger"],
  ])("signed with %s is refused", (_, by, refusal) => {
    expect(new Access(key).refusalOf(request({}, by), payload)).toBe(refusal);
  });
});
