import { type Execution, StoreUnavailable } from "@nova/engine";
import type { Admissions, Client, SlotStore, Ticket, WorkflowState } from "@nova/service";
import { fillPools, giveSlotsBack, type QueuePorts, sortKeyOf } from "../../../packages/service/src/quotas/fill.ts";
import { sweepQueues } from "../../../packages/service/src/quotas/queue.ts";
import { VirtualClock } from "../../support/engine/clock.ts";
import { type Caller, type Process, Scheduler } from "../../support/engine/scheduler.ts";
import { ExecutionState } from "../../support/engine/stores.ts";

const outage = () => new StoreUnavailable("it did not answer in time");

/**
 * Runs, their slots and their queues under a scheduler. Every access is a call, and the scheduler can delay it, let it
 * fail, or never make it.
 */
export class QueueWorld {
  readonly scheduler = new Scheduler();
  readonly clock = new VirtualClock();
  readonly executions = new ExecutionState();
  readonly slots = new SlotState();
  readonly admissions: Admissions = { held: false };
  /** Names of the runs that Step Functions has started, in order. */
  readonly started: string[] = [];
  /** The number of slots by pool, such as the `maxConcurrent` of a client or of a workflow. */
  readonly limits: Record<string, number>;
  /** Returns how many milliseconds the clock of the next process is ahead. */
  skew: () => number = () => 0;

  constructor(limits: Record<string, number>) {
    this.limits = limits;
  }

  ports(caller: Caller): QueuePorts {
    const [clock, ahead] = [this.clock.port(caller), this.skew()];
    const ask = <T>(name: string, effect: () => T) => caller.call({ name, effect, outage });
    const start = (id: string) =>
      ask("StartExecution", () => void (this.started.includes(id) || this.started.push(id)));
    const quotas = (pool: string) => (pool in this.limits ? { quotas: { maxConcurrent: this.limits[pool] } } : {});
    return {
      executions: this.executions.port(caller),
      slots: this.slots.port(caller),
      stateMachines: { start: (_arn: string, id: string) => start(id) } as never,
      clients: { get: async (slug: string) => quotas(`C#${slug}`) as Client } as never,
      workflowStates: { get: async (id: string) => quotas(`W#${id}`) as WorkflowState } as never,
      admissions: this.admissions,
      clock: { ...clock, now: () => clock.now() + ahead },
    };
  }

  spawn(name: string, body: (ports: QueuePorts) => Promise<unknown>, weight = 1): Process {
    return this.scheduler.spawn(name, (process) => body(this.ports(process)), weight);
  }

  /** Queues a run and fills its pools, as `startOrQueue` does when entry 0 of the run is written. */
  arrive(id: string, pools: string[], rank?: string): Process {
    return this.spawn(`arrive ${id}`, async (ports) => {
      await ports.executions.create({ ...runOf(id, pools), ...(rank !== undefined && { rank }) });
      await ports.slots.enqueue({ execution: id, pools, rank });
      return fillPools(ports, pools);
    });
  }

  /** Closes a run that has ended or was cancelled and frees its slots, as `finishClose` does. */
  end(id: string, status: "completed" | "cancelled" = "completed", label = ""): Process {
    return this.spawn(`end ${id}${label}`, async (ports) => {
      const record = await ports.executions.get(id);
      if (!record?.open) return;
      await ports.executions.update(id, { status });
      await giveSlotsBack(ports, { ...record, status });
      await ports.executions.leave(record, []);
    });
  }

  /**
   * Runs the sweep of the engine, which repeats lost starts and continues interrupted closes, and then the sweep of the
   * service.
   */
  sweep(): Process {
    return this.spawn("sweep", async (ports) => {
      for await (const { id, client, status, pools } of ports.executions.open()) {
        if (status === "running") await ports.stateMachines.start("", id, "");
        if (status === "completed" || status === "cancelled") {
          await giveSlotsBack(ports, { id, pools: pools ?? [] } as Execution);
          await ports.executions.leave({ id, client }, []);
        }
      }
      return sweepQueues(ports);
    });
  }

  get records(): Execution[] {
    return Array.from(this.executions.records.values());
  }

  /** Runs that Step Functions has started and that have not ended. */
  get underWay(): string[] {
    return this.of("running").filter((id) => this.started.includes(id));
  }

  of(status: Execution["status"]): string[] {
    return this.records.flatMap((record) => (record.status === status ? [record.id] : []));
  }
}

function runOf(id: string, pools: string[]): Execution {
  return {
    format: 1,
    id,
    workflowId: "w",
    version: 1,
    stateMachineArn: "arn",
    client: "c",
    root: id,
    status: "queued",
    startedAt: new Date(0).toISOString(),
    pools,
    admission: "",
    open: true,
  };
}

const pageSize = 2;

/** Slots and queues in memory, with one call for each write and page of the real table. */
export class SlotState {
  /** Admissions by pool, then by run. */
  readonly held = new Map<string, Map<string, string>>();
  readonly queues = new Map<string, Map<string, Ticket>>();

  holders(pool: string): string[] {
    return Array.from(this.held.get(pool)?.keys() ?? []);
  }

  port(caller: Caller): SlotStore {
    const ask = <T>(name: string, effect: () => T) => caller.call({ name, effect, outage });
    return {
      take: (pool, id, admission, limit) => ask(`take ${pool}`, () => this.#take(pool, id, admission, limit)),
      giveBack: (pool, id, of) => ask(`give back ${pool}`, () => this.#giveBack(pool, id, of?.admission)),
      rank: () => Promise.reject(new TypeError("no run of this world has a rank")),
      taken: (pool) => ask(`taken ${pool}`, () => this.holders(pool)),
      enqueue: async (ticket) => {
        for (const pool of ticket.pools)
          await ask(`enqueue ${pool}`, () => of(this.queues, pool).set(ticket.execution, ticket));
      },
      leave: async ({ execution, pools }) => {
        for (const pool of pools) await ask(`leave ${pool}`, () => of(this.queues, pool).delete(execution));
      },
      waiting: (pool) => this.#waiting(ask, pool),
      pools: () => this.#pools(ask),
    };
  }

  #take(pool: string, id: string, admission: string, limit: number): boolean {
    const held = of(this.held, pool);
    const there = held.get(id);
    if (there === undefined ? held.size >= limit : there > admission) return false;
    held.set(id, admission);
    return true;
  }

  #giveBack(pool: string, id: string, admission?: string): void {
    const held = of(this.held, pool);
    if (admission === undefined || held.get(id) === admission) held.delete(id);
  }

  async *#waiting(ask: <T>(name: string, effect: () => T) => Promise<T>, pool: string): AsyncIterable<Ticket> {
    for (let after = ""; ; ) {
      const page = await ask(`waiting ${pool}`, () => this.#page(pool, after));
      yield* page;
      if (page.length < pageSize) return;
      after = sortKeyOf(page.at(-1) as Ticket);
    }
  }

  #page(pool: string, after: string): Ticket[] {
    const tickets = Array.from(of(this.queues, pool).values()).filter((ticket) => sortKeyOf(ticket) > after);
    return tickets.sort((a, b) => (sortKeyOf(a) < sortKeyOf(b) ? -1 : 1)).slice(0, pageSize);
  }

  async *#pools(ask: <T>(name: string, effect: () => T) => Promise<T>): AsyncIterable<string> {
    yield* await ask("pools", () => Array.from(this.queues.keys()));
  }
}

function of<T>(maps: Map<string, Map<string, T>>, name: string): Map<string, T> {
  const map = maps.get(name) ?? new Map<string, T>();
  maps.set(name, map);
  return map;
}
