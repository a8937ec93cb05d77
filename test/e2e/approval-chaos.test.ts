// @module-tag deep
import { answerTask, readTrace, startExecution } from "@nova/engine";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openChaoticCloud, type TestCloud, verified } from "../support/cloud.ts";

let cloud: TestCloud;

beforeAll(async () => {
  cloud = await openChaoticCloud(7);
});

afterAll(async () => {
  await cloud.close();
});

const asking = {
  id: "asking",
  nodes: [
    { id: "start", type: "start" },
    { id: "ask", type: "approval", message: "Go on with {{n}}?" },
    { id: "pause", type: "wait", seconds: 1 },
    { id: "end", type: "end" },
  ],
  edges: [
    { from: "start", to: "ask" },
    { from: "ask", to: "pause", condition: "approved" },
    { from: "ask", to: "end", condition: "rejected" },
    { from: "pause", to: "end" },
  ],
};

describe("an approval whose Step Functions tasks are delivered twice while Lambdas die", { timeout: 120_000 }, () => {
  it.each([
    ["approved", ["start", "ask", "pause", "end"]],
    ["rejected", ["start", "ask", "end"]],
  ])("opens one task, and its run continues with the answer: %s", async (choice, path) => {
    const version = await cloud.publish(asking);
    const ids = await Promise.all(
      [1, 2, 3].map(async (n) => (await startExecution(cloud.ports, { version, context: `{"n": ${n}}` })).id),
    );
    for (const execution of ids) {
      const isOpen = async () => expect(await cloud.ports.tasks.hasOpen(execution)).toBe(true);
      await vi.waitFor(isOpen, { timeout: 60_000, interval: 50 });
      await answerTask(cloud.ports, { execution, node: "ask", choice, by: "ann", from: "a test" });
    }
    for (const [index, id] of ids.entries()) {
      await cloud.untilEnd(id);
      const trace = await readTrace(cloud.ports, id);
      expect([trace.execution.status, trace.path]).toEqual(["completed", path]);
      expect(await cloud.ports.tasks.ofExecution(id)).toMatchObject([
        { status: "sent", message: `Go on with ${index + 1}?` },
      ]);
      expect(await verified(cloud, trace)).toBe("anchored");
    }
  });
});
