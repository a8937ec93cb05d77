import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { BlobMissing, NovaError, StoreUnavailable } from "@nova/engine";
import type { ServicePorts } from "@nova/service";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { checkHealth, probeMs } from "../../../functions/api/health.ts";

let server: Server;
let variables: NodeJS.ProcessEnv;
let asked: string[];
let now: number;
let statusOfModel: number;

beforeEach(async () => {
  [asked, now, statusOfModel] = [[], 0, 401];
  server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.writeHead(request.url === "/models" ? statusOfModel : 200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  variables = { E2B_API_KEY: "e2b_secret", OPENAI_BASE_URL: url };
});

afterEach(() => {
  vi.useRealTimers();
  return new Promise((resolve) => server.close(resolve));
});

/** Returns ports whose services all answer. The given ports take the place of the default ports. */
function portsWith({
  keys = async () => undefined,
  describe = async () => null,
  killAll = async () => undefined,
}: Record<string, () => Promise<unknown>> = {}) {
  const ports = {
    keys: { get: () => asked.push("keys") && keys() },
    blobs: { get: () => Promise.reject(new BlobMissing("no such blob")) },
    stateMachines: { describe },
    sandboxes: { killAll: (execution: string) => asked.push(execution) && killAll() },
    clock: { now: () => now, sleep: async () => undefined },
  };
  return ports as unknown as ServicePorts;
}

const away = () => Promise.reject(new StoreUnavailable("no answer"));

describe("the health of NOVA", () => {
  it('is "ok" if every service answers, even if a service refuses the request', async () => {
    const { status, checks } = await checkHealth(portsWith(), variables);
    expect(status).toBe("ok");
    expect(Object.values(checks)).toEqual(Array(5).fill({ state: "ok", latency_ms: 0 }));
    expect(asked.sort()).toEqual(["/models", "exec_health", "keys"]);
  });

  it('is "degraded" if the key for E2B is not set, and names the missing variable', async () => {
    const { status, checks } = await checkHealth(portsWith(), { ...variables, E2B_API_KEY: "" });
    expect([status, checks.e2b.state]).toEqual(["degraded", "down"]);
    expect(checks.e2b.reason).toContain("E2B_API_KEY is not set");
    expect(asked).not.toContain("exec_health");
  });

  it.each([
    ["refuses the key", "NodeFailed", "E2B refuses the key in E2B_API_KEY"],
    ["cannot be reached", "SandboxUnavailable", undefined],
  ] as const)('is "degraded" if E2B %s, and does not quote the answer of E2B', async (_, name, reason) => {
    const killAll = () => Promise.reject(new NovaError(name, "e2b_secret is not accepted by 10.0.0.1"));
    const { status, checks } = await checkHealth(portsWith({ killAll }), variables);
    expect([status, checks.e2b.state, checks.e2b.reason]).toEqual(["degraded", "down", reason]);
  });

  it('counts E2B as "down" if E2B does not answer in time', async () => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const asking = checkHealth(portsWith({ killAll: () => new Promise(() => undefined) }), variables);
    await vi.advanceTimersByTimeAsync(probeMs);
    expect((await asking).checks.e2b).toMatchObject({ state: "down" });
  });

  it('is "degraded" if models are not available', async () => {
    statusOfModel = 503;
    const { status, checks } = await checkHealth(portsWith(), variables);
    expect([status, checks.model.state, checks.e2b.state]).toEqual(["degraded", "down", "ok"]);
  });

  it.each([["keys"], ["describe"]])(
    'is "down" if the call %s of a service fails, because then no run can start',
    async (what) => {
      expect((await checkHealth(portsWith({ [what]: away }), variables)).status).toBe("down");
    },
  );

  it("is determined at most once in five seconds", async () => {
    const ports = portsWith();
    await checkHealth(ports, variables);
    now = 4_999;
    await checkHealth(ports, variables);
    expect(asked.filter((one) => one === "keys")).toHaveLength(1);
    now = 5_000;
    await checkHealth(ports, variables);
    expect(asked.filter((one) => one === "keys")).toHaveLength(2);
  });
});
