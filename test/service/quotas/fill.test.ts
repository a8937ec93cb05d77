import { describe, expect, it } from "vitest";
import { fillPools } from "../../../packages/service/src/quotas/fill.ts";
import { poolName, poolsOf, readPool } from "../../../packages/service/src/quotas/pools.ts";
import { sweepQueues } from "../../../packages/service/src/quotas/queue.ts";
import { Random } from "../../support/engine/random.ts";
import { atOnce, type Fault, type PendingCall, type Process, settled } from "../../support/engine/scheduler.ts";
import { QueueWorld } from "../support/queue-world.ts";

/** Runs the processes one after the other. Each runs until it has finished or is about to make the call `stopAt`. */
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

  it("start after runs that arrived later only if they also need a slot of a full pool", async () => {
    const world = new QueueWorld({ "C#acme": 1, "W#w": 2 });
    await arrived(world, { a: ["C#acme", ...w], b: ["C#acme", ...w], c: w, d: w });
    expect(world.started).toEqual(["a", "c"]);
    await finish(world, [world.end("a")]);
    expect(world.started).toEqual(["a", "c", "b"]);
  });

  it("do not start while the operator has put all queues on hold, however many slots are free", async () => {
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

  it("take the slot of a run that waits for an answer after the sweeper has freed this slot", async () => {
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

  it("start in their order even if another process is just starting the first of them", async () => {
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

  it("do not lose their slots if the process that starts them continues after another process took it for dead", async () => {
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

const worlds = [
  { limits: { "W#w": 1 }, ways: [["W#w"]] },
  { limits: { "W#w": 2 }, ways: [["W#w"]] },
  { limits: { "C#a": 1, "W#w": 2 }, ways: [["C#a", "W#w"], ["W#w"]] },
  {
    limits: { "C#a": 2, "C#b": 1, "W#v": 1, "W#w": 2 },
    ways: [["C#a", "W#w"], ["C#b", "W#w"], ["C#a", "W#v"], ["C#a"]],
  },
] as const;

/** Simulates random runs that arrive, end, are cancelled and crash. Returns every violation of a quota. */
async function playQueues(seed: number): Promise<{ violations: string[]; story: string[] }> {
  return new Model(new Random(seed)).play();
}

class Model {
  readonly #random: Random;
  readonly #ways: readonly (readonly string[])[];
  readonly #world: QueueWorld;
  readonly #violations = new Set<string>();
  #faults: number;

  constructor(random: Random) {
    this.#random = random;
    const { limits, ways } = random.pick(worlds);
    this.#world = new QueueWorld(limits);
    this.#world.skew = () => random.below(5_000);
    this.#ways = ways;
    this.#faults = random.pick([0, 0, 1, 3, 8]);
  }

  async play() {
    const runs = 2 + this.#random.below(6);
    for (let n = 0; n < runs; n++) this.#world.arrive(`exec_${n}`, [...this.#random.pick(this.#ways)]);
    for (let acts = this.#random.below(12); acts > 0; acts--) await this.#act();
    await this.#goOn();
    this.#faults = 0;
    for (let n = 0; n < 3 * runs + 6 && this.#world.records.some(({ open }) => open); n++) {
      this.#world.clock.advance(60_000);
      this.#world.sweep();
      await this.#goOn();
      for (const id of this.#world.underWay) this.#end(id);
      await this.#goOn();
    }
    // Reads all queues once more, because that removes tickets of ended runs that were queued late.
    const pools = Object.keys(this.#world.limits);
    this.#world.spawn("look", (ports) => fillPools(ports, pools));
    await this.#goOn();
    this.#judgeEnd();
    return { violations: Array.from(this.#violations), story: this.#world.scheduler.story };
  }

  /**
   * Performs some pending calls, and then one random event: a run ends or is cancelled, a sweep starts, or time passes.
   */
  async #act(): Promise<void> {
    await this.#goOn(this.#random.below(25));
    const [running, queued] = [this.#world.underWay, this.#world.of("queued")];
    const what = this.#random.next();
    if (what < 0.6 && running.length > 0) this.#end(this.#random.pick(running));
    else if (what < 0.75 && queued.length > 0) this.#world.end(this.#random.pick(queued), "cancelled");
    else if (what < 0.85) this.#world.sweep();
    else this.#world.clock.advance(40_000);
  }

  /** Ends a run. Sometimes two processes finish the close of the run. */
  #end(id: string): void {
    this.#world.end(id);
    if (this.#random.chance(0.3)) this.#world.end(id, "completed", " again");
  }

  async #goOn(most = Number.POSITIVE_INFINITY): Promise<void> {
    await settled();
    for (let n = 0; n < most; n++) {
      const ready = this.#world.scheduler.ready();
      if (ready.length === 0) return;
      const pending = this.#random.pick(ready);
      this.#world.clock.advance(1 + this.#random.below(10));
      await this.#world.scheduler.perform(pending, this.#fault(pending));
      this.#judge();
    }
  }

  #fault({ call }: PendingCall): Fault | undefined {
    if (this.#faults === 0 || !call.outage || call.name === "create record" || !this.#random.chance(0.1))
      return undefined;
    this.#faults--;
    return this.#random.pick(["before", "after", "kill"] as const);
  }

  /** Checks at every moment that no pool exceeds its limit, and that each started run holds its slots. */
  #judge(): void {
    const running = this.#world.records.filter(({ status }) => status === "running");
    for (const [pool, limit] of Object.entries(this.#world.limits)) {
      const holders = this.#world.slots.holders(pool);
      const inPool = running.filter(({ pools }) => pools?.includes(pool));
      if (holders.length > limit) this.#violations.add(`${pool} has given out ${holders.length} of ${limit} slots`);
      if (inPool.length > limit) this.#violations.add(`${pool} runs ${inPool.length} at once`);
      for (const { id } of inPool)
        if (!holders.includes(id)) this.#violations.add(`${id} runs without a slot of ${pool}`);
    }
    for (const id of this.#world.started)
      if (this.#world.executions.records.get(id)?.status === "queued")
        this.#violations.add(`${id} was started while queued`);
  }

  #judgeEnd(): void {
    for (const { id, open, status } of this.#world.records) {
      if (open) this.#violations.add(`${id} stays ${status}`);
      if (status === "completed" && !this.#world.started.includes(id)) this.#violations.add(`${id} never began`);
    }
    for (const pool of Object.keys(this.#world.limits)) {
      if (this.#world.slots.queues.get(pool)?.size) this.#violations.add(`${pool} has a queue of nobody`);
    }
  }
}
