import { fillPools } from "../../../packages/service/src/quotas/fill.ts";
import { Random } from "../../support/engine/random.ts";
import { type Fault, type PendingCall, settled } from "../../support/engine/scheduler.ts";
import { QueueWorld } from "./queue-world.ts";

const worlds = [
  { limits: { "W#w": 1 }, ways: [["W#w"]] },
  { limits: { "W#w": 2 }, ways: [["W#w"]] },
  { limits: { "C#a": 1, "W#w": 2 }, ways: [["C#a", "W#w"], ["W#w"]] },
  {
    limits: { "C#a": 2, "C#b": 1, "W#v": 1, "W#w": 2 },
    ways: [["C#a", "W#w"], ["C#b", "W#w"], ["C#a", "W#v"], ["C#a"]],
  },
] as const;

/** Plays random runs that arrive, end, are cancelled and crash. Returns every violation of a quota. */
export async function playQueues(seed: number): Promise<{ violations: string[]; story: string[] }> {
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

  /** Performs some pending calls, and then one random event: an end, a cancellation, a sweep, or time that passes. */
  async #act(): Promise<void> {
    await this.#goOn(this.#random.below(25));
    const [running, queued] = [this.#world.underWay, this.#world.of("queued")];
    const what = this.#random.next();
    if (what < 0.6 && running.length > 0) this.#end(this.#random.pick(running));
    else if (what < 0.75 && queued.length > 0) this.#world.end(this.#random.pick(queued), "cancelled");
    else if (what < 0.85) this.#world.sweep();
    else this.#world.clock.advance(40_000);
  }

  /** Ends a run. Sometimes two processes finish its close. */
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
