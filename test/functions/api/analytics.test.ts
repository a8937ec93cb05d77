import { describe, expect, it, vi } from "vitest";
import { useApi } from "./support/api.ts";
import { asking } from "./support/flows.ts";

const api = useApi();

async function ended(choice: string): Promise<void> {
  const { body: run } = await api.call("POST /workflows/asking/execute", { body: { client_slug: "acme" } });
  const task = await api.taskOf(run.execution_id);
  if (choice === "cancel") await api.call(`POST /executions/${run.execution_id}/cancel`);
  else await api.call(`POST /tasks/${task.id}`, { body: { choice } });
  await vi.waitFor(async () => expect((await api.ports.executions.get(run.execution_id))?.open).toBe(false));
}

describe("the statistics of runs", () => {
  it("count every ended run by workflow and by node, in pages", async () => {
    await api.call("POST /clients", { body: { slug: "acme", name: "Acme" } });
    await api.call("POST /workflows", { body: asking });
    for (const choice of ["approved", "rejected", "cancel"]) await ended(choice);
    const { body: workflows } = await api.call("GET /analytics/workflows?limit=1");
    expect(workflows).toMatchObject({
      items: [{ workflow: "asking", runs: 3, completed: 2, cancelled: 1, failed: 0, cost_usd: 0 }],
      next_cursor: null,
    });
    expect(workflows.items[0].success_rate).toBeCloseTo(2 / 3);
    const { body: nodes } = await api.call("GET /analytics/nodes?workflow=asking&client=acme");
    expect(nodes.items).toMatchObject([{ node: "ask", runs: 3, failed: 1, cache_hits: 0 }]);
    const { body: errors } = await api.call("GET /analytics/errors");
    expect(errors.items).toEqual([{ workflow: "asking", node: "ask", class: "ExecutionClosed", count: 1 }]);
    expect((await api.call("GET /analytics/ai-cost")).body.items).toEqual([]);
  });

  it("cover the requested days, including the whole last day", async () => {
    const today = new Date().toISOString().slice(0, 10);
    const runs = async (query: string) => (await api.call(`GET /analytics/workflows?${query}`)).body.items.length;
    expect([
      await runs(`from=${today}&to=${today}`),
      await runs("to=2020-01-01"),
      await runs("from=2100-01-01"),
    ]).toEqual([1, 0, 0]);
  });
});
