import { createSandboxes } from "@nova/sandbox";
import { describe, expect, test } from "vitest";
import { apiKey, Bench, changesOf } from "./support/bench.ts";
import { MemoryIo } from "./support/memory-io.ts";

const bench = Bench.use({ limits: { lifetimeSeconds: 3600, concurrent: 8 } });

async function withEnvironment<T>(changes: Record<string, string>, action: () => Promise<T>): Promise<T> {
  const before = { ...process.env };
  Object.assign(process.env, changes);
  try {
    return await action();
  } finally {
    Object.assign(process.env, before);
  }
}

const spec = {
  template: "nova",
  execution: "exec_2",
  scope: "/fork@3.1",
  lifetimeSeconds: 300,
  lib: {},
  internet: true,
};

describe("the creation of a sandbox", () => {
  test("stores execution and scope as metadata of the sandbox, and returns the time at which E2B will end it", async () => {
    const before = Date.now();
    const sandbox = await bench.sandboxes.create(spec);
    expect(bench.server.sandboxes().find(({ id }) => id === sandbox.id)?.metadata).toEqual({
      nova: "1",
      execution: "exec_2",
      scope: "/fork@3.1",
    });
    expect(Date.parse(sandbox.createdAt)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(sandbox.endsAt) - Date.parse(sandbox.createdAt)).toBe(300_000);
    await bench.sandboxes.kill(sandbox.id);
    const light = await bench.sandboxes.create({ ...spec, light: true });
    expect(bench.server.sandboxes().find(({ id }) => id === light.id)?.metadata).toMatchObject({ packages: "none" });
    await bench.sandboxes.kill(light.id);
  });

  test("waits until E2B's plan allows another sandbox or an existing sandbox becomes free", async () => {
    const turns = [false, false, true];
    const paced = createSandboxes({ pace: async () => turns.shift() ?? false });
    const made = await paced.create(spec);
    expect(turns).toEqual([]);
    const free = [null, { ...made, id: "free" }];
    expect(await paced.create(spec, async () => free.shift() ?? null)).toMatchObject({ id: "free" });
    expect(free).toEqual([]);
    await expect(paced.create(spec)).rejects.toThrow(/^too many runs wait for a new sandbox - try again later/);
    await bench.sandboxes.kill(made.id);
  });

  test("closes the sandbox's port to the public, and its network if the code may use no network", async () => {
    const { Sandbox } = await import("@e2b/code-interpreter");
    const sandbox = await bench.sandboxes.create({ ...spec, internet: false });
    const response = await fetch(`${bench.server.sandboxUrl}/execute`, {
      method: "POST",
      headers: { "e2b-sandbox-id": sandbox.id, "e2b-sandbox-port": "49999", "content-type": "application/json" },
      body: JSON.stringify({ code: "1" }),
    });
    expect(response.status).toBe(403);
    expect((await Sandbox.getInfo(sandbox.id)).allowInternetAccess).not.toBe(true);
    await bench.sandboxes.kill(sandbox.id);
  });

  test.each([
    ["only the hosts that the code may reach", ["10.0.0.0/8", "a.test"], true],
    ["no host", [], false],
  ])("asks E2B to allow %s", async (_what, reach, internet) => {
    const { Sandbox } = await import("@e2b/code-interpreter");
    const sandbox = await bench.sandboxes.create({ ...spec, reach });
    const { network, allowInternetAccess } = await Sandbox.getInfo(sandbox.id);
    expect(network).toMatchObject({ allowOut: reach, denyOut: ["0.0.0.0/0"] });
    expect(allowInternetAccess).toBe(internet);
    const code = 'context["n"] = 1';
    const run = await bench.run(sandbox.id, bench.request(code, {}, { network: { allow: [] } }));
    expect(changesOf(run)).toEqual({ n: 1 });
    await bench.sandboxes.kill(sandbox.id);
  });

  test("fails the node with advice if E2B's plan refuses the lifetime", async () => {
    await expect(bench.sandboxes.create({ ...spec, lifetimeSeconds: 7260 })).rejects.toMatchObject({
      name: "NodeFailed",
      message: expect.stringMatching(/^E2B refuses a sandbox that lives for 121 minutes \(.*1 hours\) - lower the/),
    });
  });

  test("fails with an error that Step Functions retries as long as E2B's limit of sandboxes is reached", async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => bench.sandboxes.create(spec)));
    await expect(bench.sandboxes.create(spec)).rejects.toMatchObject({
      name: "SandboxUnavailable",
      message: expect.stringMatching(/^no sandbox can be had from E2B \(.*maximum number of concurrent/),
    });
    await Promise.all(made.map(({ id }) => bench.sandboxes.kill(id)));
  });

  test("fails the node with advice if E2B refuses the API key", async () => {
    const creating = withEnvironment({ E2B_API_KEY: `${apiKey.slice(0, -1)}8` }, () => createSandboxes().create(spec));
    await expect(creating).rejects.toMatchObject({
      name: "NodeFailed",
      message: expect.stringMatching(/^E2B refused the API key - set E2B_API_KEY/),
    });
  });

  test("kills the new sandbox if it accepts no files", async () => {
    bench.gateway.fault = (call) => (call === "POST /files" ? "502" : undefined);
    await expect(bench.sandboxes.create(spec)).rejects.toMatchObject({ name: "SandboxUnavailable" });
    expect(bench.server.sandboxes()).toEqual([]);
  });

  test("sends no request and fails immediately for a while after E2B could not be reached", async () => {
    bench.gateway.fault = () => "break";
    const sandboxes = createSandboxes();
    const attempts = Array.from({ length: 5 }, () => sandboxes.create(spec).catch(({ name }: Error) => name));
    expect(new Set(await Promise.all(attempts))).toEqual(new Set(["SandboxUnavailable"]));
    const before = bench.gateway.calls.length;
    await expect(sandboxes.create(spec)).rejects.toThrow("E2B cannot be reached");
    expect(bench.gateway.calls).toHaveLength(before);
  });
});

describe("the extension of a sandbox's life", () => {
  test("needs one call of E2B and keeps the connection", async () => {
    const sandbox = await bench.create();
    const before = bench.gateway.calls.length;
    const extended = await bench.sandboxes.extend(sandbox, 900);
    expect(bench.gateway.calls.slice(before)).toHaveLength(1);
    expect(Date.parse(extended?.endsAt ?? "") - Date.now()).toBeGreaterThan(895_000);
    expect(changesOf(await bench.run(sandbox, bench.request("context['a'] = 1")))).toEqual({ a: 1 });
    await bench.sandboxes.kill(sandbox.id);
  });

  test("never shortens the life of the sandbox", async () => {
    const sandbox = await bench.create();
    const extended = await bench.sandboxes.extend(sandbox, 10);
    expect(Date.parse(extended?.endsAt ?? "")).toBeGreaterThan(Date.now() + 200_000);
    await bench.sandboxes.kill(sandbox.id);
  });

  test("returns null if E2B's plan refuses the lifetime", async () => {
    const sandbox = await bench.create();
    expect(await bench.sandboxes.extend(sandbox, 4000)).toBeNull();
    await bench.sandboxes.kill(sandbox.id);
  });

  test("returns null if E2B silently grants a shorter lifetime", async () => {
    const sandbox = await bench.create();
    const cut = { sandboxID: sandbox.id, startedAt: sandbox.createdAt, endAt: new Date(Date.now() + 600_000) };
    bench.gateway.fault = (call) =>
      call === "GET /sandboxes/:id" ? { status: 200, body: JSON.stringify(cut) } : undefined;
    const old = { ...sandbox, createdAt: new Date(Date.now() - 2_700_000).toISOString() };
    expect(await bench.sandboxes.extend(old, 900)).toBeNull();
    await bench.sandboxes.kill(sandbox.id);
  });

  test("returns null if the sandbox does not exist", async () => {
    const sandbox = await bench.create();
    await bench.server.kill(sandbox.id);
    expect(await bench.sandboxes.extend(sandbox, 300)).toBeNull();
  });
});

describe("the kill of a sandbox", () => {
  test("succeeds even if the sandbox does not exist", async () => {
    const sandbox = await bench.create();
    await bench.sandboxes.kill(sandbox.id);
    await bench.sandboxes.kill(sandbox.id);
    expect(await bench.run(sandbox, bench.request("1"), new MemoryIo(), { first: false })).toEqual({ kind: "gone" });
  });

  test("can be done for all sandboxes of one execution, and leaves all others alive", async () => {
    await Promise.all([bench.create({}, "exec_a"), bench.create({}, "exec_a"), bench.create({}, "exec_b")]);
    await bench.sandboxes.killAll("exec_a");
    expect(bench.server.sandboxes().map(({ metadata }) => metadata.execution)).toEqual(["exec_b"]);
    await bench.sandboxes.killAll("exec_b");
  });
});
