import { syncTriggers } from "@nova/service";
import type { Trigger } from "@nova/workflow";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { inARow, openTestCloud, type TestCloud } from "../../support/cloud.ts";

// Read when the functions are loaded.
vi.hoisted(() => Object.assign(process.env, { POWERTOOLS_LOG_LEVEL: "SILENT" }));

let cloud: TestCloud;

beforeAll(async () => {
  cloud = await openTestCloud({ fires: true });
  await cloud.publish(inARow("orders", { work: 'context["seen"] = True' }));
});

afterAll(() => cloud.close());

/** The first run that `trigger` has started, once it has ended. */
async function ranBy(trigger: string) {
  const found = await vi.waitFor(
    async () => {
      const deliveries = await cloud.service.deliveries.list({ workflow: "orders", limit: 50 });
      const started = deliveries.find((one) => one.trigger === trigger && one.status === "started");
      expect(started).toBeDefined();
      return started;
    },
    { timeout: 10_000, interval: 20 },
  );
  const execution = found?.execution ?? "";
  await cloud.untilEnd(execution);
  return execution;
}

async function live(...triggers: Trigger[]): Promise<AsyncDisposable> {
  await syncTriggers(cloud.service, "orders", [], triggers);
  return { [Symbol.asyncDispose]: () => syncTriggers(cloud.service, "orders", triggers, []) };
}

describe("a trigger that is real", () => {
  it("runs the workflow with an event that fits, and once though it comes twice", async () => {
    await using _ = await live({ type: "event", id: "paid", bus: "nova", pattern: { source: ["shop"] } });
    await cloud.service.bus.put({ source: "bank", type: "Paid", detail: "{}" });
    const id = await cloud.service.bus.put({ source: "shop", type: "Paid", detail: '{"total": 850}' });
    const execution = await ranBy("paid");
    const record = await cloud.ports.executions.get(execution);
    expect(record).toMatchObject({ status: "completed", workflowId: "orders", client: "default" });
    const deliveries = await cloud.service.deliveries.list({ workflow: "orders", limit: 50 });
    expect(deliveries).toMatchObject([{ dedupe: id, from: "shop", about: "Paid", execution }]);
  });
});
