import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { BlobMissing, StoreUnavailable } from "@nova/engine";
import type { ServicePorts } from "@nova/service";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkHealth } from "../../../functions/api/health/check.ts";

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
  variables = { E2B_API_URL: url, OPENAI_BASE_URL: url };
});

afterEach(() => new Promise((resolve) => server.close(resolve)));

/** Everything is there, but for what is given. */
function portsWith({
  keys = async () => undefined,
  describe = async () => null,
}: Record<string, () => Promise<unknown>> = {}) {
  const ports = {
    keys: { get: () => asked.push("keys") && keys() },
    blobs: { get: () => Promise.reject(new BlobMissing("no such blob")) },
    stateMachines: { describe },
    clock: { now: () => now, sleep: async () => undefined },
  };
  return ports as unknown as ServicePorts;
}

const away = () => Promise.reject(new StoreUnavailable("no answer"));

describe("the health of NOVA", () => {
  it("is ok when everything answers, if only with a refusal", async () => {
    const { status, checks } = await checkHealth(portsWith(), variables);
    expect(status).toBe("ok");
    expect(Object.values(checks)).toEqual(Array(5).fill({ state: "ok", latency_ms: 0 }));
    expect(asked.sort()).toEqual(["/health", "/models", "keys"]);
  });

  it("is degraded when models cannot be asked", async () => {
    statusOfModel = 503;
    const { status, checks } = await checkHealth(portsWith(), variables);
    expect([status, checks.model.state, checks.e2b.state]).toEqual(["degraded", "down", "ok"]);
  });

  it.each([["keys"], ["describe"]])("is down when no run can start: %s", async (what) => {
    expect((await checkHealth(portsWith({ [what]: away }), variables)).status).toBe("down");
  });

  it("is looked at every five seconds at most", async () => {
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
