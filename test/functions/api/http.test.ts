import { describe, expect, it } from "vitest";
import { useApi } from "./support/api.ts";

const api = useApi();
const origin = "https://console.example.com";
const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
const manyKeys = `{"context":{${Array.from({ length: 100_001 }, (_, i) => `"${i}":1`).join(",")}}}`;

describe("a path of the API", () => {
  it.each([
    ["GET /nowhere", 404],
    ["GET /workflows/Not-An-Id", 404],
    ["GET /executions/exec_short", 404],
    ["GET /executions/%E0%A4%A", 404],
    ["GET /executions/..%2f..%2fetc", 404],
    ["DELETE /health", 405],
    ["PATCH /workflows/asking", 405],
    ["PUT /executions", 405],
  ])("in the request %s gets status %i", async (request, status) => {
    const { status: answered, headers, body } = await api.call(request);
    expect([answered, body.status]).toEqual([status, status]);
    expect(headers.get("content-type")).toBe("application/problem+json");
  });

  it("lists its methods in the response to a request with another method", async () => {
    const { headers, body } = await api.call("PATCH /workflows/asking");
    expect(headers.get("allow")).toBe("PUT, GET, DELETE");
    expect(body).toEqual({
      type: "about:blank",
      title: "Method not allowed",
      status: 405,
      detail: "PATCH is not possible here - use PUT or GET or DELETE",
    });
  });

  it("accepts no query parameter twice, except where the API allows any query", async () => {
    const { status, body } = await api.call("GET /executions?limit=1&limit=2");
    expect([status, body.detail]).toEqual([400, 'the query has the parameter "limit" more than once - send it once']);
    expect((await api.call("GET /openapi.json?a=1&a=2", { key: null })).status).toBe(200);
  });

  it.each(["/executions?cursor=a.b", "/clients/acme/credentials?cursor=%20"])(
    "causes for an invalid cursor an error that does not show the pattern of valid cursors: %s",
    async (path) => {
      const { status, body } = await api.call(`GET ${path}`);
      expect([status, body.errors]).toEqual([
        400,
        [{ path: "$.cursor", message: "the cursor is unknown - use a `next_cursor`" }],
      ]);
    },
  );

  it("can end with a slash", async () => {
    expect((await fetch(`${api.url}/health/`)).status).toBe(200);
  });
});

describe("the body of an API request", () => {
  it.each([
    ["that is too large", JSON.stringify({ context: { text: "x".repeat(4 * 1024 * 1024) } }), 413, /bytes, at most/],
    ["that is larger than an API Gateway accepts", "x".repeat(11 * 1024 * 1024), 413, undefined],
    ["that is nested too deep", nested(513), 413, /513 levels deep/],
    ["of only brackets", "[".repeat(1_000_000), 413, /levels deep/],
    ["with too many keys", manyKeys, 413, /100002 keys/],
    ["that is not JSON", "{", 400, /not JSON/],
    ["with an error at a known position", '{"a": 1 "b"}', 400, /not JSON from character 8 on - correct it$/],
    [
      "that is not JSON at the place of a secret",
      '{"password": hunter2}',
      400,
      /^the body is not JSON[^"]* - correct it$/,
    ],
    ["that ends inside a text", '{"a": "\\', 400, /not JSON/],
    ["that is a text", '"{}"', 422, /the body does not fit/],
    ["that is null", "null", 422, /the body does not fit/],
    ["with the key of a built-in member", '{"__proto__": {}}', 422, /does not fit/],
  ])("%s is refused", async (_what, body, status, detail) => {
    const answer = await fetch(`${api.url}/workflows/asking/execute`, {
      method: "POST",
      headers: { authorization: `Bearer ${await api.key("runner")}`, "content-type": "application/json" },
      body,
    });
    expect(answer.status).toBe(status);
    if (detail) expect(((await answer.json()) as { detail: string }).detail).toMatch(detail);
  });

  it.each([
    "PUT /workflows/asking/quotas",
    "PATCH /clients/default",
    "POST /workflows",
    "PUT /workflows/asking",
    "POST /workflows/validate",
    "POST /keys",
  ])("that is empty is refused by %s", async (request) => {
    for (const body of ["", " \n"]) {
      const { status, body: problem } = await api.call(request, { body });
      expect([status, problem.detail]).toEqual([400, "the body is empty - send JSON, such as {}"]);
    }
  });

  it.each([
    ["POST /clients", '{"slug": "half", "name": "\\ud800"}', "$.name"],
    ["POST /workflows", '{"definition": {"nodes": []}, "files": {"a.py": "\\udc00"}}', '$.files["a.py"]'],
    ["POST /workflows/validate", '{"nodes": [{"id": "a", "code": "x = \\"\\ud800\\""}]}', "$.nodes[0].code"],
    ["POST /tasks/task_01M80YJAR8RA1ESRW03H0659XA", '{"choice": "a", "data": {"r": "\\ud83d"}}', "$.data.r"],
    ["PUT /clients/default/credentials/a", '{"kind": "custom", "values": {"a": "\\ud83dsecret"}}', "$.values.a"],
  ])("with half of a surrogate pair is refused: %s", async (request, body, path) => {
    const { status, body: problem } = await api.call(request, { body });
    expect([status, problem.errors]).toEqual([400, [{ path, message: expect.stringMatching(/half a character/) }]]);
  });

  it.each([
    ["text/plain", 415],
    ["application/xml", 415],
    ["application/json; charset=utf-8", 422],
    ["application/problem+json", 422],
  ])("of type %s gets status %i", async (type, status) => {
    const { status: answered } = await api.call("POST /keys", { body: "{}", headers: { "content-type": type } });
    expect(answered).toBe(status);
  });

  it("that is not UTF-8 is refused", async () => {
    const key = await api.key("admin");
    const answer = await fetch(`${api.url}/keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/octet-stream" },
      body: Buffer.from([0xff, 0xfe]),
    });
    expect([answer.status, await answer.json()]).toMatchObject([400, { detail: expect.stringMatching(/not UTF-8/) }]);
  });

  it("with JSON that is not UTF-8 is refused, not corrected", async () => {
    const answer = await fetch(`${api.url}/workflows/asking/execute`, {
      method: "POST",
      headers: { authorization: `Bearer ${await api.key("runner")}`, "content-type": "application/json" },
      body: Buffer.from('{"context":{"name":"M\u00fcller"}}', "latin1"),
    });
    expect([answer.status, await answer.json()]).toMatchObject([400, { detail: expect.stringMatching(/not UTF-8/) }]);
  });

  it("is refused with a reason for each field", async () => {
    const { body } = await api.call("POST /keys", { body: { role: "king", client_slug: "A B", more: 1 } });
    expect(body.errors.map(({ path }: { path: string }) => path)).toEqual(["$.role", "$.client_slug", "$"]);
  });
});

describe("a web page of another origin", () => {
  const asks = { origin, "access-control-request-method": "POST" };

  it("gets permission to call the API in the preflight and in every response, even in an error, if its origin is configured", async () => {
    const before = await fetch(`${api.url}/workflows`, { method: "OPTIONS", headers: asks });
    expect([before.status, before.headers.get("access-control-allow-origin")]).toEqual([204, origin]);
    expect(before.headers.get("access-control-allow-headers")).toContain("idempotency-key");
    for (const [path, status] of [["/health", 200] as const, ["/workflows", 401] as const]) {
      const { status: answered, headers } = await api.call(`GET ${path}`, { key: null, headers: { origin } });
      expect([answered, headers.get("access-control-allow-origin")]).toEqual([status, origin]);
    }
  });

  it("gets no permission to call the API if its origin is not configured", async () => {
    const { headers } = await api.call("GET /health", { headers: { origin: "https://evil.example.com" } });
    expect([headers.get("access-control-allow-origin"), headers.get("vary")]).toEqual([null, "origin"]);
  });
});

describe("the answers of the API", () => {
  it("forbid caching", async () => {
    const { headers } = await api.call("GET /workflows");
    expect([headers.get("cache-control"), headers.get("x-content-type-options")]).toEqual(["no-store", "nosniff"]);
  });

  it("include the state of every service at GET /health", async () => {
    const { body } = await api.call("GET /health", { key: null });
    expect(body.checks).toMatchObject({ dynamodb: { state: "ok" }, s3: { state: "ok" }, states: { state: "ok" } });
    expect(["ok", "degraded"]).toContain(body.status);
  });
});
