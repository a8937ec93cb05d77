import { sweepService } from "@nova/service";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { expectRefusal, useApi } from "./support/api.ts";
import { asking } from "./support/flows.ts";

const api = useApi();

beforeAll(async () => {
  await api.call("POST /clients", { body: { slug: "acme", name: "Acme" } });
  for (const id of ["one", "other"]) await api.call("POST /workflows", { body: { ...asking, id } });
});

const started: string[] = [];

afterEach(async () => {
  for (const id of started.splice(0)) await api.call(`POST /executions/${id}/cancel`);
  await limit("one", {});
  await api.call("PATCH /clients/acme", { body: { quotas: {} } });
});

function limit(workflow: string, quotas: object) {
  return api.call(`PUT /workflows/${workflow}/quotas`, { body: quotas });
}

async function start(workflow = "one", client?: string): Promise<string> {
  const body = client === undefined ? {} : { client_slug: client };
  const { body: run } = await api.call(`POST /workflows/${workflow}/execute`, { body });
  started.push(run.execution_id);
  return run.execution_id;
}

async function statuses(): Promise<string> {
  const records = await Promise.all(started.map((id) => api.ports.executions.get(id)));
  return records.map((record) => (record?.status === "waiting" ? "running" : record?.status)).join(" ");
}

async function finish(id: string): Promise<void> {
  const task = await api.taskOf(id);
  await api.call(`POST /tasks/${task.id}`, { body: { choice: "approved" } });
}

describe("the quota max_concurrent", () => {
  it("makes runs above the limit wait, and lets these runs start in the order of their arrival", async () => {
    await limit("one", { max_concurrent: 1 });
    const [first, second] = [await start(), await start(), await start()];
    expect(await statuses()).toBe("running queued queued");
    await finish(first as string);
    await vi.waitFor(async () => expect(await statuses()).toBe("completed running queued"));
    await finish(second as string);
    await vi.waitFor(async () => expect(await statuses()).toBe("completed completed running"));
  });

  it("of a client counts its runs of all workflows, but no runs of other clients", async () => {
    await api.call("PATCH /clients/acme", { body: { quotas: { max_concurrent: 1 } } });
    for (const [workflow, client] of [
      ["one", "acme"],
      ["other", "acme"],
      ["one", undefined],
    ] as const)
      await start(workflow, client);
    expect(await statuses()).toBe("running queued running");
  });

  it("of a workflow applies together with the workflow's limit per client", async () => {
    await limit("one", { max_concurrent: 2, max_concurrent_per_client: 1 });
    for (const client of ["acme", "acme", undefined, undefined]) await start("one", client);
    expect(await statuses()).toBe("running queued running queued");
  });

  it("queues runs beyond the limit, which appear in lists and can be cancelled", async () => {
    await limit("one", { max_concurrent: 1 });
    const [, queued] = [await start(), await start()];
    const { body: list } = await api.call("GET /executions?workflow=one&status=queued");
    expect(list.items).toMatchObject([{ execution_id: queued, status: "queued" }]);
    expect((await api.call(`POST /executions/${queued}/cancel`)).body.status).toBe("cancelled");
    expect(await statuses()).toBe("running cancelled");
    expect((await api.call(`GET /executions/${queued}/verify`)).body.state).toBe("anchored");
  });

  it("queues a run above the limit, and the answer has the status code 202 and the run status queued", async () => {
    await limit("one", { max_concurrent: 1 });
    await start();
    const answer = await api.call("POST /workflows/one/execute?wait=0", { body: {} });
    started.push(answer.body.execution_id);
    expect([answer.status, answer.body.status]).toEqual([202, "queued"]);
  });

  it("lets waiting runs start when the limit is raised or removed", async () => {
    await limit("one", { max_concurrent: 1 });
    for (let n = 0; n < 4; n++) await start();
    await limit("one", { max_concurrent: 2 });
    expect(await statuses()).toBe("running running queued queued");
    await limit("one", { max_concurrent: null });
    expect(await statuses()).toBe("running running running running");
  });

  it("is not exceeded if many runs arrive at the same time", async () => {
    await limit("one", { max_concurrent: 3 });
    await Promise.all(Array.from({ length: 7 }, () => start()));
    const counted = (await statuses()).split(" ").sort().join(" ");
    expect(counted).toBe([...Array(4).fill("queued"), ...Array(3).fill("running")].join(" "));
    expect((await api.ports.slots.taken("W#one")).length).toBe(3);
  });

  it("lets the sweeper release unused slots, but not start more runs than the limit", async () => {
    await limit("one", { max_concurrent: 1 });
    await api.ports.slots.take("W#one", "exec_gone", "0", 1);
    await start();
    expect(await statuses()).toBe("queued");
    await sweepService(api.ports);
    expect(await statuses()).toBe("running");
    await start();
    await sweepService(api.ports);
    expect(await statuses()).toBe("running queued");
  });
});

describe("quotas", () => {
  it("are returned with the values of the last change, and a change replaces all quotas", async () => {
    await limit("one", { max_concurrent: 5, max_concurrent_per_client: 2 });
    expect((await limit("one", { max_concurrent: 4 })).body).toEqual({
      max_concurrent: 4,
      max_concurrent_per_client: null,
    });
    expect((await api.call("GET /workflows/one/quotas")).body.max_concurrent).toBe(4);
    const quotas = { max_concurrent: 1, max_cost_usd: 2.5, retention_days: 30 };
    await api.call("PATCH /clients/acme", { body: { quotas } });
    expect((await api.call("GET /clients/acme")).body.quotas).toEqual(quotas);
  });

  it("of a client cannot be changed with an API key of this client", async () => {
    const key = await api.key("admin", "acme");
    const changed = await api.call("PATCH /clients/acme", { key, body: { quotas: { max_concurrent: 100 } } });
    expect(changed.status).toBe(403);
    expect((await api.call("PATCH /clients/acme", { key, body: { name: "Acme" } })).status).toBe(200);
  });

  it("refuse a run of a client that has spent its monthly budget", async () => {
    await api.call("PATCH /clients/acme", { body: { quotas: { max_cost_usd: 2 } } });
    const month = new Date().toISOString().slice(0, 7);
    const node = { execution: "exec_1", scope: "", seq: 1 };
    await api.ports.spending.note("acme", month, node, 1.5);
    await start("one", "acme");
    await api.ports.spending.note("acme", month, { ...node, seq: 2 }, 0.5);
    await api.ports.spending.note("acme", month, node, 1.4);
    await expectRefusal(
      api.call("POST /workflows/one/execute", { body: { client_slug: "acme" } }),
      422,
      /"acme" has spent \$2\.00 of \$2\.00 on models this month - raise/,
    );
  });

  it("need no database calls if no quota is set", async () => {
    const { put, get } = { put: vi.spyOn(api.ports.slots, "enqueue"), get: vi.spyOn(api.ports.spending, "ofMonth") };
    await start("other", "acme");
    expect([put.mock.calls, get.mock.calls]).toEqual([[], []]);
    expect((await api.ports.executions.get(started[0] as string))?.pools).toBeUndefined();
    vi.restoreAllMocks();
  });
});
