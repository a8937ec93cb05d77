// @module-tag deep: these tests take long, so `npm test` leaves this file out.
import { startExecution } from "@nova/engine";
import { functions } from "@nova/functions";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forbidden } from "../support/allowed.ts";
import { inARow, openTestCloud, type TestCloud } from "../support/cloud.ts";
import { type WatchedCalls, watchCalls } from "../support/watched-calls.ts";

let cloud: TestCloud;
let calls: WatchedCalls;

beforeAll(async () => {
  calls = watchCalls(functions);
  cloud = await openTestCloud();
});

afterAll(async () => {
  await cloud.close();
  calls[Symbol.dispose]();
});

const context = { awsRequestId: "request-1", getRemainingTimeInMillis: () => 60_000 };
const fails = { code: "raise ValueError('no')" };

/** A workflow with two parallel branches. One branch is a map. */
const parallelMap = {
  id: "parallel-map",
  nodes: [
    { id: "start", type: "start" },
    { id: "split", type: "action", code: "pass" },
    { id: "beside", type: "action", code: "context['y'] = 1" },
    {
      id: "each",
      type: "map",
      items: "list",
      into: "lengths",
      nodes: [{ id: "measure", type: "action", code: "context['n'] = len(context['item'])" }],
      edges: [],
    },
    { id: "meet", type: "action", code: "context['met'] = len(context['lengths'])" },
    { id: "end", type: "end" },
  ],
  edges: [
    { from: "start", to: "split" },
    { from: "split", to: "beside" },
    { from: "split", to: "each" },
    { from: "beside", to: "meet" },
    { from: "each", to: "meet" },
    { from: "meet", to: "end" },
  ],
};

/** Starts a run that waits for an event immediately, and returns its id. */
async function waiting(): Promise<string> {
  const event = { source: ["shop"], "detail-type": ["order"] };
  const version = await cloud.publish(inARow("waits", { order: { type: "wait", event, timeout: "1d" } }));
  const { id } = await startExecution(cloud.ports, { version, context: "{}" });
  await new Promise<void>((resolve) => {
    cloud.untilEnd(id, ({ state }) => state === "waiting" && resolve());
  });
  return id;
}

describe("the Lambda functions of the engine, on a laptop,", () => {
  it("run nodes and child workflows, close runs, wait for events, deliver events and sweep", async () => {
    await cloud.publish(inARow("inner", { work: 'context["x"] = "y" * 90_000' }));
    const inner = { type: "workflow", workflow: "inner" };
    await cloud.run(await cloud.publish(inARow("outer", { inner, work: 'context["z"] = 1' })));
    await cloud.run(await cloud.publish(inARow("breaks", { work: fails })));
    await cloud.run(await cloud.publish(inARow("outer-breaks", { inner: { ...inner, workflow: "breaks" } })));
    const { execution } = await cloud.run(
      await cloud.publish(parallelMap),
      JSON.stringify({ list: Array(60).fill("x".repeat(20_000)) }),
    );
    expect(execution).toMatchObject({ status: "completed" });
    const id = await waiting();
    await functions["nova-sweep"].handler({}, context);
    await functions["nova-deliver-event"].handler({ source: "shop", "detail-type": "order", detail: {} }, context);
    await cloud.untilEnd(id);
    await functions["nova-sweep"].handler({}, context);
    expect(await functions["nova-prove"].handler({}, context)).toMatchObject({ roots: 1 });
    expect(
      await functions["nova-verify"].handler({}, { ...context, getRemainingTimeInMillis: () => 900_000 }),
    ).toMatchObject({
      broken: 0,
      done: true,
    });
    const watched = Object.keys(functions).filter((name) => calls.of(name).length > 0);
    expect(watched).toEqual(Object.keys(functions));
  });

  it("use the E2B key only to run a node, to close a run or to count sandboxes", () => {
    const asking = Object.keys(functions).filter((name) => calls.of(name).some((call) => call.startsWith("ssm:")));
    expect(asking).toEqual(["nova-run-node", "nova-close-execution", "nova-sweep"]);
  });

  it.each(Object.keys(functions))("make only calls that the AWS role of %s allows", (name) => {
    expect(forbidden(name, calls.of(name))).toEqual([]);
  });
});
