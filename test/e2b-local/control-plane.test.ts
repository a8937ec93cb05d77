import { AuthenticationError, NotFoundError, Sandbox, SandboxNotFoundError } from "@e2b/code-interpreter";
import { expect, test } from "vitest";
import { API_KEY, asRoot, eventually, useServer } from "./server.ts";

const { server, connection, create } = useServer();

test("the local E2B API creates a sandbox, and returns its details", async () => {
  const sandbox = await create({ metadata: { execution: "exec_1" }, timeoutMs: 90_000 });
  const info = await sandbox.getInfo();
  expect(info).toMatchObject({ templateId: "nova", state: "running", metadata: { execution: "exec_1" }, cpuCount: 2 });
  expect(info.endAt.getTime() - info.startedAt.getTime()).toBe(90_000);
  expect(server().sandboxes()).toContainEqual({
    id: sandbox.sandboxId,
    metadata: { execution: "exec_1" },
    startedAt: info.startedAt,
  });
  expect(await sandbox.isRunning()).toBe(true);
});

test("the local E2B API refuses a request with another API key", async () => {
  await expect(Sandbox.create("nova", { ...connection(), apiKey: "e2b_other" })).rejects.toThrow(AuthenticationError);
});

test.each([
  ["connect", (id: string) => Sandbox.connect(id, connection())],
  ["getInfo", (id: string) => Sandbox.getInfo(id, connection())],
  ["setTimeout", (id: string) => Sandbox.setTimeout(id, 1000, connection())],
])("the local E2B API answers 404 for an unknown sandbox: %s", async (_, call) => {
  await expect(call("iunknown")).rejects.toThrow(SandboxNotFoundError);
});

test("the function kill of the E2B SDK returns false for an unknown sandbox", async () => {
  expect(await Sandbox.kill("iunknown", connection())).toBe(false);
});

test("a killed sandbox cannot be used by any of its clients", async () => {
  const sandbox = await create();
  expect(await sandbox.kill()).toBe(true);
  expect(await sandbox.isRunning()).toBe(false);
  await expect(sandbox.getInfo()).rejects.toThrow(NotFoundError);
  await expect(sandbox.runCode("1")).rejects.toThrow("The sandbox was not found");
  await expect(sandbox.files.read("/tmp/x", asRoot)).rejects.toThrow("The sandbox was not found");
});

test("a second client that connects to a sandbox gets the tokens and the environment variables of the sandbox", async () => {
  const sandbox = await create({ network: { allowPublicTraffic: false } });
  await sandbox.runCode("x = 41");
  const again = await Sandbox.connect(sandbox.sandboxId, connection());
  expect(again.trafficAccessToken).toBe(sandbox.trafficAccessToken);
  expect((await again.runCode("x + 1")).text).toBe("42");
});

test("the function connect of the E2B SDK can only extend the life of a sandbox, and setTimeout can also shorten it", async () => {
  const sandbox = await create({ timeoutMs: 100_000 });
  const remaining = async () => Math.round(((await sandbox.getInfo()).endAt.getTime() - Date.now()) / 1000);
  await Sandbox.connect(sandbox.sandboxId, { ...connection(), timeoutMs: 10_000 });
  expect(await remaining()).toBeGreaterThan(90);
  await Sandbox.connect(sandbox.sandboxId, { ...connection(), timeoutMs: 500_000 });
  expect(await remaining()).toBeGreaterThan(490);
  await sandbox.setTimeout(20_000);
  expect(await remaining()).toBeLessThan(21);
});

test("a sandbox ends when its timeout is over", async () => {
  const sandbox = await create();
  await sandbox.setTimeout(0);
  await eventually(async () => !(await sandbox.isRunning()));
  await expect(sandbox.getInfo()).rejects.toThrow(SandboxNotFoundError);
});

test("the local E2B API lists the sandboxes with the given metadata", async () => {
  const group = { group: "a b&c=d" };
  const ids = [(await create({ metadata: group })).sandboxId, (await create({ metadata: group })).sandboxId];
  const pages = Sandbox.list({ ...connection(), query: { metadata: group } });
  expect((await pages.nextItems()).map((item) => item.sandboxId)).toEqual(ids);
  expect(pages.hasNext).toBe(false);
});

test("the local E2B API refuses requests that it does not support, and its message names the request", async () => {
  const { sandboxId } = await create();
  await expect(create({ lifecycle: { onTimeout: "pause" } })).rejects.toThrow("pauses no sandbox");
  await expect(create({ envs: { A: "1" } })).rejects.toThrow("has no variables");
  const pausing = await fetch(`${server().apiUrl}/sandboxes/${sandboxId}/pause`, {
    method: "POST",
    headers: { "X-API-KEY": API_KEY },
  });
  expect([pausing.status, await pausing.json()]).toEqual([
    404,
    { code: 404, message: expect.stringContaining("pause") },
  ]);
});

test.each([
  ["no template", {}, "templateID"],
  ["metadata of a wrong type", { templateID: "nova", metadata: { a: 1 } }, "metadata.a"],
  ["a port in a network rule", { templateID: "nova", network: { allowOut: ["8.8.8.8:80"] } }, "port-specific rules"],
  [
    "a domain in a rule that denies traffic",
    { templateID: "nova", network: { denyOut: ["a.test"] } },
    "invalid denied CIDR a.test",
  ],
  [
    "an allowed domain while all other traffic is allowed, too",
    { templateID: "nova", network: { allowOut: ["a.test"] } },
    "include 'ALL_TRAFFIC'",
  ],
  [
    "an invalid domain",
    { templateID: "nova", network: { allowOut: ["a b"], denyOut: ["0.0.0.0/0"] } },
    "invalid allowed domain",
  ],
  ["a timeout of 0", { templateID: "nova", timeout: 0 }, "Timeout must be greater than 0"],
])("the local E2B API answers 400 with a reason to a request with %s", async (_, body, reason) => {
  const answer = await fetch(`${server().apiUrl}/v2/sandboxes`, {
    method: "POST",
    headers: { "X-API-KEY": API_KEY, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toEqual({ code: 400, message: expect.stringContaining(reason) });
});

test("the local E2B API answers that a sandbox does not exist if its processes have died", async () => {
  const sandbox = await create();
  await server().kill(sandbox.sandboxId);
  await expect(sandbox.getInfo()).rejects.toThrow(SandboxNotFoundError);
});

test.each([
  ["a list", "GET", "/v2/sandboxes?metadata=group%3Dnone", ""],
  ["an extension", "POST", "/v2/sandboxes/:id/connect", '{"timeout":100}'],
  ["a new timeout", "POST", "/sandboxes/:id/timeout", '{"timeout":100}'],
  ["a request without a body", "POST", "/sandboxes/:id/timeout", ""],
  ["a wrong timeout", "POST", "/sandboxes/:id/timeout", '{"timeout":"long"}'],
  ["a body that is no JSON", "POST", "/sandboxes/:id/timeout", "{"],
  ["an unknown sandbox", "DELETE", "/sandboxes/iunknown", ""],
  ["an unknown route", "POST", "/sandboxes/:id/pause", ""],
  ["another API key", "GET", "/v2/sandboxes", "", "e2b_other"],
])(
  "the local E2B API gives a direct call the same answer as an HTTP request: %s",
  async (_, method, path, json, apiKey = API_KEY) => {
    const url = path.replace(":id", (await create()).sandboxId);
    const headers = { "x-api-key": apiKey, "content-type": "application/json" };
    const overHttp = await fetch(server().apiUrl + url, { method, headers, ...(json && { body: json }) });
    const { signal } = new AbortController();
    const direct = await server().callControlPlane({ method, url, apiKey, json, signal });
    expect([direct.status, await direct.text()]).toEqual([overHttp.status, await overHttp.text()]);
  },
);

test("a direct call of the control plane fails with the abort reason of its signal", async () => {
  const { sandboxId } = await create();
  const call = { method: "DELETE", url: `/sandboxes/${sandboxId}`, apiKey: API_KEY, json: "" };
  const late = new AbortController();
  const killing = server().callControlPlane({ ...call, signal: late.signal });
  late.abort("too late");
  await expect(killing).rejects.toBe("too late");
  await expect(server().callControlPlane({ ...call, signal: late.signal })).rejects.toBe("too late");
});
