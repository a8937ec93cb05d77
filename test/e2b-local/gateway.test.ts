import type { Sandbox } from "@e2b/code-interpreter";
import { beforeAll, expect, test } from "vitest";
import { API_KEY, useServer } from "./server.ts";

const { server, create } = useServer();
let sandbox: Sandbox;
let envdAccessToken: string;
beforeAll(async () => {
  sandbox = await create();
  envdAccessToken = (await ask({ path: `/sandboxes/${sandbox.sandboxId}`, headers: toControl })).body.envdAccessToken;
});

type Ask = { method?: string; path: string; headers?: Record<string, string>; body?: string | Buffer<ArrayBuffer> };

async function ask({ path, ...init }: Ask) {
  const answer = await fetch(`${server().apiUrl}${path}`, init);
  const text = await answer.text();
  return { status: answer.status, body: text.startsWith("{") ? JSON.parse(text) : text };
}

const toControl = { "x-api-key": API_KEY, "content-type": "application/json" };
const toPort = (port: number, more: Record<string, string> = {}) => ({
  "e2b-sandbox-id": sandbox.sandboxId,
  "e2b-sandbox-port": String(port),
  "x-access-token": envdAccessToken,
  ...more,
});

test("a request to the local E2B server gets 401 without the API key, and 404 for an unknown route", async () => {
  expect(await ask({ path: "/v2/sandboxes" })).toMatchObject({ status: 401, body: { code: 401 } });
  expect(await ask({ path: "/v2/volumes", headers: toControl })).toMatchObject({ status: 404, body: { code: 404 } });
});

test.each([
  ["is not JSON", "{"],
  ["is not an object", "[]"],
])("a request to the local E2B server gets 400 if its body %s", async (_, body) => {
  const answer = await ask({ method: "POST", path: "/v2/sandboxes", headers: toControl, body });
  expect(answer).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining("Error when parsing request") },
  });
});

test("a request to the local E2B server for an unknown sandbox, or for a port without a listener, gets 502", async () => {
  const headers = { "e2b-sandbox-id": "iunknown", "e2b-sandbox-port": "49999" };
  const unknown = { code: 502, message: "The sandbox was not found", sandboxId: "iunknown" };
  expect(await ask({ path: "/health", headers })).toEqual({ status: 502, body: unknown });
  expect(await ask({ path: "/", headers: toPort(8080) })).toMatchObject({
    status: 502,
    body: { message: "The sandbox is running but port is not open", port: 8080 },
  });
});

test.each([
  ["code port: an unknown path", 49_999, { path: "/nothing" }, 404],
  ["code port: no code", 49_999, { method: "POST", path: "/execute", body: "{}" }, 422],
  ["code port: an unknown Python process", 49_999, { method: "DELETE", path: "/contexts/none" }, 404],
  ["envd: an unknown path", 49_983, { path: "/nothing" }, 404],
  [
    "envd: an upload that is neither raw bytes nor a form",
    49_983,
    { method: "POST", path: "/files?path=/tmp/x&username=root", body: "x" },
    400,
  ],
  ["envd: a service that it lacks", 49_983, { method: "POST", path: "/process.Process/Update", body: "{}" }, 404],
])("the local E2B server refuses a bad request to the %s", async (_, port, request, status) => {
  expect((await ask({ ...request, headers: toPort(port) })).status).toBe(status);
});

test.each([
  ["no path for raw bytes", "/files?username=root", { "content-type": "application/octet-stream" }, 400],
  ["an encoding that it does not know", "/files?path=/tmp/x&username=root", { "content-encoding": "br" }, 400],
  ["a form without a boundary", "/files?path=/tmp/x&username=root", { "content-type": "multipart/form-data" }, 400],
  ["another access token", "/files?path=/tmp/x&username=root", { "x-access-token": "wrong" }, 401],
])("the file service of a sandbox refuses an upload with %s", async (_, path, headers, status) => {
  const answer = await ask({ method: "POST", path, headers: toPort(49_983, headers), body: "x" });
  expect(answer).toMatchObject({ status, body: { code: status } });
});

test("a sandbox can run code after all requests that were refused in this test file", async () => {
  expect((await sandbox.runCode("'well'")).text).toBe("well");
});
