import { describe, expect, it } from "vitest";
import { fillPools } from "../../../packages/service/src/quotas/fill.ts";
import { poolName, poolsOf, readPool } from "../../../packages/service/src/quotas/pools.ts";
import { sweepQueues } from "../../../packages/service/src/quotas/queue.ts";
import { atOnce, type Process, settled } from "../../support/engine/scheduler.ts";
import { playQueues } from "../support/queue-model.ts";
import { QueueWorld } from "../support/queue-world.ts";

/** Lets processes run one after the other until they have finished, or until one reaches a given call. */
async function finish(world: QueueWorld, processes: Process[], stopAt = "nothing"): Promise<void> {
  for (const process of processes) {
    for (;;) {
      await settled();
      const next = world.scheduler.ready().find((pending) => pending.process === process);
      if (!next || next.call.name === stopAt) break;
      await world.scheduler.perform(next);
    }
  }
}

async function arrived(world: QueueWorld, runs: Record<string, string[]>): Promise<void> {
  for (const [id, pools] of Object.entries(runs)) await finish(world, [world.arrive(id, pools)]);
}

const w = ["W#w"];

describe("queued runs", () => {
  it("start in the order in which they arrived", async () => {
    const world = new QueueWorld({ "W#w": 1 });
    await arrived(world, { a: w, b: w, c: w });
    await finish(world, [world.end("a")]);
    await finish(world, [world.end("b")]);
    expect(world.started).toEqual(["a", "b", "c"]);
  });

  it("start after later ones only if they need a slot of another pool that is full", async () => {
    const world = new QueueWorld({ "C#acme": 1, "W#w": 2 });
    await arrived(world, { a: ["C#acme", ...w], b: ["C#acme", ...w], c: w, d: w });
    expect(world.started).toEqual(["a", "c"]);
    await finish(world, [world.end("a")]);
    expect(world.started).toEqual(["a", "c", "b"]);
  });

  it("do not start while the operator holds all queues, however many slots are free", async () => {
    const world = new QueueWorld({ "C#acme": 1, "W#w": 2 });
    await arrived(world, { a: ["C#acme", ...w], b: ["C#acme", ...w], c: w });
    world.admissions.held = true;
    await arrived(world, { d: w });
    await finish(world, [world.end("a"), world.end("c"), world.sweep()]);
    expect([world.started, world.of("queued")]).toEqual([
      ["a", "c"],
      ["b", "d"],
    ]);
    world.admissions.held = false;
    await finish(world, [world.sweep()]);
    expect(world.started).toEqual(["a", "c", "b", "d"]);
  });

  it("hold no slot of a pool while another pool is full", async () => {
    const world = new QueueWorld({ "C#acme": 1, "W#w": 2 });
    await arrived(world, { a: ["C#acme"], b: [...w, "C#acme"] });
    expect([world.of("queued"), world.slots.holders("W#w")]).toEqual([["b"], []]);
  });

  it("start in the order of their ranks, not of their arrival, if only the total number of runs is limited", async () => {
    const world = new QueueWorld({ "C#acme": 2 });
    world.admissions.atOnce = 1;
    const ranks = { a: "1", b: "3", c: "4", d: "2" };
    for (const [id, rank] of Object.entries(ranks))
      await finish(world, [world.arrive(id, id === "c" ? ["C#acme", "S"] : ["S"], rank)]);
    for (const id of ["a", "d", "b", "c"]) await finish(world, [world.end(id)]);
    expect(world.started).toEqual(["a", "d", "b", "c"]);
  });

  it("take the slot of a run that waits for an answer, once the sweeper has freed that slot", async () => {
    const world = new QueueWorld({ "W#w": 5 });
    world.admissions.atOnce = 1;
    await arrived(world, { a: [...w, "S"], b: [...w, "S"] });
    await world.executions.port(atOnce).update("a", { status: "waiting" });
    await finish(world, [world.sweep()]);
    expect([world.started, world.slots.holders("W#w"), world.slots.holders("S")]).toEqual([
      ["a", "b"],
      ["a", "b"],
      ["b"],
    ]);
    await finish(world, [world.end("a"), world.end("b")]);
    expect(world.slots.holders("S")).toEqual([]);
  });

  it("start in their order even if another process is just starting the first one", async () => {
    const world = new QueueWorld({ "W#w": 1 });
    await arrived(world, { a: w, b: w, c: w });
    const slow = world.end("a");
    await finish(world, [slow], "take W#w");
    await finish(world, [world.end("a", "completed", " again"), slow]);
    expect(world.started).toEqual(["a", "b"]);
  });

  it("are started by a sweep if the process that was about to start them has died", async () => {
    const world = new QueueWorld({ "C#acme": 1, "W#w": 1 });
    await arrived(world, { a: [...w, "C#acme"] });
    const dying = world.arrive("b", [...w, "C#acme"]);
    world.limits["W#w"] = 2;
    world.limits["C#acme"] = 2;
    await finish(world, [dying], "take C#acme");
    dying.kill();
    await sweepQueues(world.ports(atOnce));
    expect(world.started).toEqual(["a"]);
    world.clock.advance(31_000);
    await sweepQueues(world.ports(atOnce));
    expect(world.started).toEqual(["a", "b"]);
  });

  it("do not lose their slot if the process that starts them was taken for dead and continues", async () => {
    const world = new QueueWorld({ "W#w": 1 });
    await arrived(world, { a: w, b: w });
    world.limits["W#w"] = 2;
    const fill = (name: string) => world.spawn(name, (ports) => fillPools(ports, w));
    const early = fill("early");
    await finish(world, [early], "admit record");
    world.clock.advance(1);
    const slow = fill("slow");
    await finish(world, [slow], "take W#w");
    world.clock.advance(31_000);
    const other = fill("other");
    await finish(world, [other], "take W#w");
    world.slots.held.get("W#w")?.set("c", "");
    await finish(world, [other], "taken W#w");
    world.slots.held.get("W#w")?.delete("c");
    await finish(world, [early], "admit record as begun");
    await finish(world, [slow], "taken W#w");
    await finish(world, [early, slow, other]);
    expect([world.of("running"), world.slots.holders("W#w")]).toEqual([
      ["a", "b"],
      ["a", "b"],
    ]);
  });

  it("all start when their quota is removed", async () => {
    const world = new QueueWorld({ "W#w": 1 });
    await arrived(world, { a: w, b: w, c: w });
    delete world.limits["W#w"];
    expect(await fillPools(world.ports(atOnce), w)).toEqual(["b", "c"]);
  });
});

it.each([
  ["W#invoice", { workflow: "invoice" }],
  ["C#acme", { client: "acme" }],
  ["P#invoice#acme", { workflow: "invoice", client: "acme" }],
  ["S", {}],
])("the workflow and the client of a pool can be read from its name: %s", (name, pool) => {
  expect([poolName(pool), readPool(name)]).toEqual([name, pool]);
});

it.each([
  ["no quota", undefined, undefined, []],
  ["no quota for the number of runs", {}, { maxCostUsd: 1, retentionDays: 2 }, []],
  ["a quota of the workflow", { maxConcurrent: 1 }, undefined, ["W#invoice"]],
  ["a quota of the client", undefined, { maxConcurrent: 1 }, ["C#acme"]],
  [
    "all three quotas",
    { maxConcurrent: 3, maxConcurrentPerClient: 1 },
    { maxConcurrent: 2 },
    ["C#acme", "P#invoice#acme", "W#invoice"],
  ],
])("a run with %s counts in the pools of its quotas", (_what, ofWorkflow, ofClient, expected) => {
  const run = { workflow: "invoice", client: "acme", ofWorkflow, ofClient };
  expect(poolsOf(run)).toEqual(expected);
  expect(poolsOf({ ...run, atOnce: 20 })).toEqual([...expected, "S"]);
});

const runs = Number(process.env.NOVA_MODEL_RUNS ?? 2000);
const timeout = Math.max(120_000, runs * 10);
const first = Number(process.env.NOVA_MODEL_SEED ?? 1);

it(`every quota holds in ${runs} random runs with faults`, { timeout, tags: ["deep"] }, async () => {
  for (let seed = first; seed < first + runs; seed++) {
    const { violations, story } = await playQueues(seed);
    const shownStory = process.env.NOVA_MODEL_SEED ? story.join("\n") : "";
    expect(violations, `seed ${seed}\n${shownStory}`).toEqual([]);
  }
});
