import { interruptedError } from "@nova/engine";
import { beforeAll, describe, expect, it } from "vitest";
import { withKinds } from "../../../packages/engine/src/kinds/table.ts";
import { closeExecution } from "../../../packages/engine/src/protocol/close.ts";
import { useApi } from "./support/api.ts";
import { asking } from "./support/flows.ts";

const api = useApi();
let next = 0;
const once = () => ({ "idempotency-key": `request ${next++}` });

beforeAll(async () => {
  await api.call("POST /workflows", { body: asking });
});

/**
 * Ends a run in the same way as a process that stops. It stops the state machine first, because otherwise the state
 * machine could end the run as failed.
 */
async function interrupt(execution: string): Promise<void> {
  const { stateMachineArn = "" } = (await api.ports.executions.get(execution)) ?? {};
  await api.ports.stateMachines.stop(stateMachineArn, execution, interruptedError, "The process was stopped.");
  await closeExecution(withKinds(api.ports), { execution, status: "interrupted" });
}

describe("a request repeated with its Idempotency-Key", () => {
  it("starts one run", async () => {
    const headers = once();
    const start = () => api.call("POST /workflows/asking/execute", { body: {}, headers });
    const [first, second] = [await start(), await start()];
    expect(second.body.execution_id).toBe(first.body.execution_id);
    expect((await api.call("GET /executions?workflow=asking")).body.items).toHaveLength(1);
  });

  it("starts one run if both requests arrive at the same time", async () => {
    const headers = once();
    const start = () => api.call("POST /workflows/asking/execute", { body: {}, headers });
    const answers = await Promise.all([start(), start(), start()]);
    const ids = answers.filter(({ status }) => status === 202).map(({ body }) => body.execution_id);
    expect(new Set(ids).size).toBe(1);
    for (const { status, body } of answers)
      if (status !== 202) expect([status, body.detail]).toEqual([409, expect.stringMatching(/under way/)]);
  });

  it("restarts its run if the run was interrupted, and returns the same restart in later repetitions", async () => {
    const headers = once();
    const start = async () => (await api.call("POST /workflows/asking/execute", { body: {}, headers })).body;
    const { execution_id: first } = await start();
    await interrupt(first);
    const again = await start();
    expect(again.execution_id).not.toBe(first);
    const read = await api.call(`GET /executions/${again.execution_id}`);
    expect(read.body).toMatchObject({ restarted_from: first });
    expect((await start()).execution_id).toBe(again.execution_id);
    await api.call(`POST /executions/${again.execution_id}/cancel`);
    expect(await start()).toEqual({ execution_id: again.execution_id, status: "cancelled" });
  });

  it("restarts a restart that was interrupted, and returns the new restart", async () => {
    const source = (await api.call("POST /workflows/asking/execute", { body: {} })).body.execution_id;
    await interrupt(source);
    const headers = once();
    const restart = async () => (await api.call(`POST /executions/${source}/restart`, { headers })).body;
    const first = await restart();
    await interrupt(first.execution_id);
    expect(await restart()).toMatchObject({ restarted_from: first.execution_id });
  });

  it("publishes one version, and both answers say that this version is new", async () => {
    const headers = once();
    const body = { ...asking, description: "again" };
    const first = await api.call("POST /workflows", { body, headers });
    const second = await api.call("POST /workflows", { body, headers });
    expect([second.status, second.body]).toEqual([201, first.body]);
  });

  it("creates one API key, which only the first answer shows", async () => {
    const headers = once();
    const { body: made } = await api.call("POST /keys", { body: { role: "viewer" }, headers });
    const { status, body } = await api.call("POST /keys", { body: { role: "viewer" }, headers });
    expect([status, body.detail]).toEqual([409, expect.stringContaining(made.id)]);
    expect(JSON.stringify(body)).not.toContain(made.key);
  });

  it("rotates the key that encrypts credentials only once", async () => {
    const values = { key: "4711-4711" };
    await api.call("PUT /workflows/asking/credentials/vendor", { body: { kind: "custom", values } });
    const headers = once();
    const rotate = () => api.call("POST /credentials/rotate", { headers });
    const [first, second] = [await rotate(), await rotate()];
    expect([first.body, second.body]).toEqual([{ sealed: 1, locked: [] }, first.body]);
    const { body } = await api.call("GET /audit");
    const deeds = body.items.filter(({ action }: { action: string }) => action === "credentials.rotated");
    expect(deeds).toHaveLength(1);
  });

  it("answers a task once, and gets the result of the first answer", async () => {
    const { body: list } = await api.call("GET /tasks?limit=1");
    const headers = once();
    const answer = () => api.call(`POST /tasks/${list.items[0].task_id}`, { body: { choice: "rejected" }, headers });
    const [first, second] = [await answer(), await answer()];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body).toEqual(first.body);
  });

  it("is refused if its content differs from the content of the first request", async () => {
    const headers = once();
    await api.call("POST /workflows/asking/execute", { body: {}, headers });
    const other = await api.call("POST /workflows/asking/execute", { body: { version: 1 }, headers });
    expect([other.status, other.body.detail]).toEqual([422, expect.stringMatching(/another request before/)]);
  });

  it("is executed if the first request was refused", async () => {
    const headers = once();
    const client = { slug: "late", name: "Late" };
    const asks = () => api.call("POST /workflows/asking/execute", { body: { client_slug: "late" }, headers });
    expect((await asks()).status).toBe(404);
    await api.call("POST /clients", { body: client });
    expect((await asks()).status).toBe(202);
  });

  it("counts as a new request if another API key sends it", async () => {
    const headers = once();
    const start = async () =>
      api.call("POST /workflows/asking/execute", { body: {}, headers, key: await api.key("runner") });
    const [first, second] = [await start(), await start()];
    expect(second.body.execution_id).not.toBe(first.body.execution_id);
  });

  it("is carried out without a check of the Idempotency-Key if its method is PUT, which needs no such key", async () => {
    const headers = { "idempotency-key": "\u00e4" };
    expect((await api.call("POST /workflows/validate", { body: asking, headers })).status).toBe(400);
    expect((await api.call("PUT /workflows/asking", { body: asking, headers })).status).toBe(201);
  });

  it.each(["", "x".repeat(256), "\u00e4"])("is refused with the Idempotency-Key %j", async (key) => {
    const { status } = await api.call("POST /workflows/asking/execute", {
      body: {},
      headers: { "idempotency-key": key },
    });
    expect(status).toBe(400);
  });
});
