import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { type LocalApi, openApi } from "@nova/local";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { inARow, openTestCloud, type TestCloud } from "../../support/cloud.ts";

const key = "whsec_9f8e";

let cloud: TestCloud;
let api: LocalApi;
/** A server that receives notifications of failures. */
let pager: Server;
const paged: { headers: NodeJS.Dict<string | string[]>; body: unknown }[] = [];

beforeAll(async () => {
  pager = createServer(async (request, response) => {
    paged.push({ headers: request.headers, body: await json(request) });
    response.end();
  }).listen(0, "127.0.0.1");
  await once(pager, "listening");
  cloud = await openTestCloud({ fires: true });
  api = await openApi(cloud, { port: 0 });
  const { port } = pager.address() as AddressInfo;
  const on_failure = { webhook: { url: `http://127.0.0.1:${port}/`, secret: "vendor" } };
  const signature = { header: "X-Signature", secret: "vendor", prefix: "sha256=" };
  const triggers = [
    { type: "schedule", id: "often", every: "15m", context: { region: "es" } },
    { type: "event", id: "paid", pattern: { source: ["shop"], detail: { total: [{ numeric: [">", 100] }] } } },
    { type: "webhook", id: "vendor", signature, dedupe: "headers.x-delivery", wait: 25 },
    { type: "webhook", id: "open" },
  ];
  const code = 'if "webhook" in context:\n    context["got"] = context["webhook"]["body"]["total"] / 0.5';
  const published = await ask("POST /workflows", inARow("orders", { work: code }, { triggers, on_failure }));
  expect(published).toMatchObject({ id: "orders", version: 1, status: "ready" });
  await ask("PUT /workflows/orders/credentials/vendor", { kind: "custom", values: { key } });
});

afterAll(async () => {
  await api.close();
  await cloud.close();
  pager.close();
});

async function ask(request: string, body?: object): Promise<unknown> {
  const [method = "GET", path] = request.split(" ");
  const headers = { authorization: `Bearer ${api.key.text}`, "content-type": "application/json" };
  const answer = await fetch(`${api.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return answer.status === 204 ? undefined : answer.json();
}

/** Sends a request that the API must refuse. Returns the status and the detail of the problem. */
async function problem(request: string, body: object): Promise<string> {
  const { status, detail } = (await ask(request, body)) as { status: number; detail: string };
  return `${status} ${detail}`;
}

function deliver(body: string, delivery: string, by = key) {
  const digest = createHmac("sha256", by).update(body).digest("hex");
  const headers = { "content-type": "application/json", "x-signature": `sha256=${digest}`, "x-delivery": delivery };
  return fetch(`${api.url}/hooks/vendor`, { method: "POST", body, headers });
}

/** Waits until the trigger has started a run, and until this run has ended. Returns the id of the run. */
async function ranBy(trigger: string): Promise<string> {
  const execution = await vi.waitFor(
    async () => {
      const deliveries = await cloud.service.deliveries.list({ workflow: "orders", limit: 50 });
      const found = deliveries.find((one) => one.trigger === trigger && one.status === "started");
      expect(found).toBeDefined();
      return found?.execution ?? "";
    },
    { timeout: 15_000, interval: 20 },
  );
  await cloud.untilEnd(execution);
  return execution;
}

describe("a workflow with triggers is run", () => {
  it("at the time of a schedule", async () => {
    // A schedule without a first time fires immediately.
    await cloud.service.schedules.put({ workflow: "orders", trigger: "often", expression: "rate(20 minutes)" });
    const record = (await ask(`GET /executions/${await ranBy("often")}`)) as Record<string, object>;
    expect(record).toMatchObject({ status: "completed", workflow: "orders", client: "default" });
    expect(record.context).toMatchObject({ region: "es", schedule: { trigger: "often" } });
  });

  it("for an event that matches its pattern, and for no other event", async () => {
    await cloud.service.bus.put({ source: "shop", type: "Paid", detail: '{"total": 99}' });
    const id = await cloud.service.bus.put({ source: "shop", type: "Paid", detail: '{"total": 850.0}' });
    const run = await ranBy("paid");
    const record = (await ask(`GET /executions/${run}`)) as Record<string, object>;
    expect(record.context).toMatchObject({
      event: { id, source: "shop", "detail-type": "Paid", detail: { total: 850 } },
    });
    const headers = { authorization: `Bearer ${api.key.text}` };
    expect(await (await fetch(`${api.url}/executions/${run}`, { headers })).text()).toContain('"total": 850.0');
    const deliveries = await cloud.service.deliveries.list({ workflow: "orders", limit: 50 });
    expect(deliveries.filter(({ trigger }) => trigger === "paid")).toMatchObject([{ dedupe: id }]);
  });

  it("for no event that imitates NOVA's own events, but the local cloud reports that event", async () => {
    const nova_detail = { key: `events/${"0".repeat(64)}.json`, bytes: 5 };
    const event = { source: "shop", type: "Paid", detail: { total: 850, nova_detail } };
    expect(await problem("POST /events", { ...event, on_bus: true })).toMatch(/^400 detail\.nova_detail is reserved/);
    const id = await cloud.service.bus.put({ ...event, detail: JSON.stringify(event.detail) });
    await vi.waitFor(
      async () => {
        const { items } = (await ask("GET /deliveries?status=refused")) as { items: object[] };
        expect(items).toMatchObject([
          { trigger: "paid", dedupe: id, reason: expect.stringMatching(/^its detail is not/) },
        ]);
      },
      { timeout: 15_000, interval: 20 },
    );
  });

  it("once for a signed webhook request, and the sender waits for the result", async () => {
    const [first, second] = [await deliver('{"total": 21}', "d-1"), await deliver('{"total": 21}', "d-1")];
    expect([first.status, second.status]).toEqual([200, 200]);
    const result = (await first.json()) as Record<string, object>;
    expect(result).toMatchObject({ status: "completed", context: { got: 42 } });
    expect(await second.json()).toMatchObject({ execution_id: result.execution_id });
  });

  it("for a webhook request with bytes, and the response has the address of the later result", async () => {
    const body = Buffer.from([0, 255, 128]);
    const answer = await fetch(`${api.url}/hooks/open`, { method: "POST", body });
    expect(answer.status).toBe(202);
    const { execution_id } = (await answer.json()) as { execution_id: string };
    expect(answer.headers.get("location")).toBe(`/executions/${execution_id}`);
    await cloud.untilEnd(execution_id);
  });
});

describe("a request to the address of a webhook", () => {
  it("gets the same response for an unknown webhook and for a signature of another key", async () => {
    const [wrong, absent] = [
      await deliver("{}", "d-2", "other"),
      await fetch(`${api.url}/hooks/nobody`, { method: "POST" }),
    ];
    expect([wrong.status, absent.status]).toEqual([404, 404]);
    const { detail } = (await wrong.json()) as { detail: string };
    expect(await absent.json()).toMatchObject({ detail: detail.replace("vendor", "nobody") });
  });

  it.each([
    ["whose body is not JSON", "{", "application/json", 422],
    ["whose body is nested too deeply", "[".repeat(600), "application/json", 413],
    ["whose body is too large", "x".repeat(5 * 1024 * 1024), "text/plain", 413],
  ])("%s gets an error response", async (_, body, type, status) => {
    const answer = await fetch(`${api.url}/hooks/open`, { method: "POST", body, headers: { "content-type": type } });
    expect(answer.status).toBe(status);
  });
});

describe("a run of a workflow that fails", () => {
  it("is reported to the recipients that the workflow names, in a signed message", async () => {
    const answer = await deliver('{"total": "no number"}', "d-3");
    const { execution_id } = (await answer.json()) as { execution_id: string };
    await vi.waitFor(() => expect(paged).toHaveLength(2), { timeout: 15_000, interval: 20 });
    const told = paged.find(({ body }) => (body as { execution_id: string }).execution_id === execution_id);
    expect(told?.body).toMatchObject({ type: "execution.failed", workflow: "orders", error: { node: "work" } });
    expect(told?.headers["x-nova-signature"]).toMatch(/^t=\d+,v2=[0-9a-f]{64}$/);
  });
});

describe("a deleted workflow with a schedule", () => {
  it("is no longer started", async () => {
    await ask("DELETE /workflows/orders");
    expect((await deliver('{"total": 1}', "d-4")).status).toBe(404);
    const before = await cloud.service.deliveries.list({ workflow: "orders", limit: 50 });
    await cloud.service.bus.put({ source: "shop", type: "Paid", detail: '{"total": 850}' });
    await cloud.service.bus.put({ source: "shop", type: "Paid", detail: '{"total": 851}' });
    expect(await cloud.service.deliveries.list({ workflow: "orders", limit: 50 })).toHaveLength(before.length);
  });
});

describe("requirements in a definition that is sent to the local API", () => {
  const needing = (line: string) => inARow("needs", { work: "a = 1" }, { requirements: [line] });

  it.each(["a b c", "-r /etc/hostname", "/nonexistent/x.whl", "\u0000"])("cause a finding: %j", async (line) => {
    expect(await ask("POST /workflows/validate", needing(line))).toMatchObject({ valid: false });
    expect(await problem("POST /workflows", needing(line))).toMatch(/^422 NOVA114: requirements: .* - write a package/);
  });

  it("are refused with an error of pip if only pip finds the mistake", async () => {
    vi.stubEnv("PIP_NO_INDEX", "1");
    expect(await problem("POST /workflows", needing("novatiny==9"))).toMatch(
      /^422 the requirements novatiny==9 cannot be installed \(ERROR: No matching distribution .*\) - correct them/,
    );
    vi.unstubAllEnvs();
  });
});
