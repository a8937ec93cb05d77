import { beginExecution, type Execution } from "@nova/engine";
import { decodeTime, ulid } from "ulid";
import type { SlotStore, Ticket } from "../ports/clients.ts";
import type { ServicePorts } from "../ports/index.ts";
import { pauseOf } from "../workflows/find.ts";
import { allRunsPool, limitsOf, poolName } from "./pools.ts";

/**
 * Merges queues that have the same order, and yields each ticket once in that order. It reads no queue further than
 * needed.
 */
async function* mergeQueues(queues: readonly AsyncIterable<Ticket>[]): AsyncIterable<Ticket> {
  const readers = queues.map((queue) => queue[Symbol.asyncIterator]());
  const heads = await Promise.all(readers.map((reader) => reader.next()));
  for (;;) {
    const tickets = heads.flatMap(({ done, value }) => (done ? [] : [value as Ticket]));
    const [first, ...others] = tickets;
    if (!first) return;
    const next = others.reduce((a, b) => (sortKeyOf(b) < sortKeyOf(a) ? b : a), first);
    yield next;
    for (const [at, { done, value }] of heads.entries()) {
      if (!done && value.execution === next.execution) heads[at] = await (readers[at] as (typeof readers)[0]).next();
    }
  }
}

/** Returns the sort key of a ticket in every queue: ranked tickets come first. */
export function sortKeyOf({ rank = "", execution }: Pick<Ticket, "rank" | "execution">): string {
  return rank + execution;
}

/**
 * Maximum number of pauses in which one call waits for other processes that are starting runs. After that, the next
 * sweep checks the queues again.
 */
const maxPauses = 5;
const pauseMs = 20;

/**
 * The calls in progress, by the names of their pools. Calls for the same pools that arrive during a call wait for its
 * end, and share one further call.
 */
const rounds = new WeakMap<SlotStore, Map<string, { current: Promise<string[]>; next?: Promise<string[]> }>>();

/**
 * Starts queued runs of these pools, in the order of their queues, while there are slots. If a run needs a slot of
 * another pool that is full, later runs start before it. Returns the started runs. Several processes may call this
 * function at the same time.
 */
export function fillPools(ports: QueuePorts, pools: readonly string[]): Promise<string[]> {
  const under = rounds.get(ports.slots) ?? new Map();
  rounds.set(ports.slots, under);
  const key = pools.join(" ");
  const round = under.get(key);
  if (!round) {
    const current = fill(ports, pools).finally(() => under.delete(key));
    under.set(key, { current });
    return current;
  }
  const again = () => fillPools(ports, pools);
  round.next ??= round.current.then(again, again);
  return round.next;
}

async function fill(ports: QueuePorts, pools: readonly string[]): Promise<string[]> {
  const queues = new Queues(ports);
  let pauses = 0;
  for (let due: ReadonlySet<string> = new Set(pools); due.size > 0; ) {
    const stoodBack = await queues.goThrough(due);
    due = await queues.missed();
    if (due.size === 0 || !stoodBack) continue;
    if (++pauses > maxPauses) break;
    await ports.clock.sleep(pauseMs * pauses);
  }
  return queues.begun;
}

class Queues {
  readonly begun: string[] = [];
  readonly #ports: QueuePorts;
  readonly #limit: (pool: string) => Promise<number>;
  readonly #full = new Set<string>();
  /**
   * Pools of the runs that this call could not start. While this call tried to start such a run, other processes may
   * have kept a slot free for that run, and so skipped later runs.
   */
  #touched = new Set<string>();

  constructor(ports: QueuePorts) {
    this.#ports = ports;
    this.#limit = limitsOf(ports);
  }

  /**
   * Tries to start the queued runs, in the order of the queues. Returns whether it kept slots free for runs that other
   * processes are starting.
   */
  async goThrough(pools: ReadonlySet<string>): Promise<boolean> {
    const ahead = new Map<string, number>();
    this.#touched = new Set();
    // Tries no run if all pools are full, because an attempt takes slots for a moment and could delay runs that are
    // ahead in the queues.
    for (const pool of pools) if (!(await this.#hasRoom(pool))) this.#full.add(pool);
    if (Array.from(pools).every((pool) => this.#full.has(pool))) return false;
    const queues = Array.from(pools, (pool) => this.#ports.slots.waiting(pool));
    for await (const ticket of mergeQueues(queues)) {
      if (!ticket.pools.some((pool) => this.#full.has(pool))) await this.#try(ticket, ahead);
      if (Array.from(pools).every((pool) => this.#full.has(pool))) break;
    }
    return ahead.size > 0;
  }

  async #try(ticket: Ticket, ahead: Map<string, number>): Promise<void> {
    const left = async (pool: string) => (await this.#limit(pool)) - (ahead.get(pool) ?? 0);
    const admitted = await admit(this.#ports, ticket, left);
    if (admitted.outcome === "begun") this.begun.push(ticket.execution);
    if (admitted.outcome === "full") this.#full.add(admitted.pool);
    // A held run takes no slots, so no other process has kept a slot for it.
    if (admitted.outcome === "held") return;
    for (const pool of ticket.pools) {
      if (admitted.outcome === "busy") ahead.set(pool, (ahead.get(pool) ?? 0) + 1);
      else if (admitted.outcome !== "begun") this.#touched.add(pool);
    }
  }

  /** Returns the pools to process again, because a slot may have become free during the attempts. */
  async missed(): Promise<ReadonlySet<string>> {
    const missed = new Set(this.#touched);
    for (const pool of this.#full) {
      if (!(await this.#hasRoom(pool))) {
        missed.delete(pool);
      } else {
        this.#full.delete(pool);
        missed.add(pool);
      }
    }
    return missed;
  }

  async #hasRoom(pool: string): Promise<boolean> {
    const [taken, limit] = await Promise.all([this.#ports.slots.taken(pool), this.#limit(pool)]);
    return taken.length < limit;
  }
}

export async function giveSlotsBack(ports: QueuePorts, execution: Execution): Promise<void> {
  const ticket = ticketOf(execution);
  if (ticket.pools.length === 0) return;
  await ports.slots.leave(ticket);
  for (const pool of ticket.pools)
    await ports.slots.giveBack(pool, execution.id, pool === allRunsPool ? { rank: ticket.rank } : {});
  await fillPools(ports, ticket.pools);
}

export type QueuePorts = Pick<
  ServicePorts,
  "executions" | "stateMachines" | "slots" | "workflowStates" | "clients" | "admissions" | "clock"
>;

/**
 * The result of an attempt to start a queued run. `busy`: another process is starting the run. `gone`: the run no
 * longer waits in the queue. `held`: the workflow of the run is paused, and the run waits only in queues of other
 * pools. `full`: this pool has no free slot.
 */
export type AdmitResult = { outcome: "begun" | "busy" | "gone" | "held" } | { outcome: "full"; pool: string };

/**
 * After this time, an attempt counts as crashed. A newer admission then replaces the admission of the attempt, even if
 * the process of the attempt is still alive.
 */
const abandonedMs = 30_000;

/**
 * Takes a slot in each pool of a run and starts the run. If a pool has no free slot, the function takes no slot at all.
 * `limit` returns the number of slots of a pool, without the slots that are kept free for runs ahead of this run.
 */
export async function admit(
  ports: QueuePorts,
  ticket: Ticket,
  limit: (pool: string) => Promise<number>,
): Promise<AdmitResult> {
  const { executions, slots, clock } = ports;
  const record = await executions.get(ticket.execution);
  if (record?.status !== "queued" || !record.open) {
    await slots.leave(ticket);
    return { outcome: "gone" };
  }
  if (pauseOf(await ports.workflowStates.get(record.workflowId))) {
    const pool = poolName({ workflow: record.workflowId });
    return ticket.pools.includes(pool) ? { outcome: "full", pool } : { outcome: "held" };
  }
  const { admission: from = "" } = record;
  if (from !== "" && clock.now() - decodeTime(from) < abandonedMs) return { outcome: "busy" };
  const admission = nextAdmission(from, clock.now());
  if (!(await executions.admit(record.id, { from, to: admission }))) return { outcome: "busy" };
  const full = await takeSlots(ports, ticket, admission, limit);
  if (full === null) return startAdmitted(ports, ticket, record, admission);
  // No earlier attempt can still take slots at this point, so the run's admission can be reset.
  await executions.admit(record.id, { from: admission, to: from && backDate(admission) });
  return { outcome: "full", pool: full };
}

/**
 * Builds an admission that sorts after `from`, since a slot moves only from an earlier admission to a later admission.
 */
function nextAdmission(from: string, now: number): string {
  return ulid(from === "" ? now : Math.max(now, decodeTime(from) + abandonedMs + 1));
}

/**
 * Returns an admission with an earlier time, for an attempt that has ended, so that the next attempt need not wait. If
 * the record kept no admission, the next admission could sort before the admission of a slow process that is still
 * alive.
 */
function backDate(admission: string): string {
  return ulid(decodeTime(admission) - abandonedMs);
}

export function ticketOf({ id, pools = [], rank }: Execution): Ticket {
  return { execution: id, pools, rank };
}

/**
 * Takes a slot in each of the pools and returns null. If a pool is full, it gives back the slots that it took, and
 * returns that pool.
 */
async function takeSlots(
  { slots }: Pick<QueuePorts, "slots">,
  { execution, pools }: Ticket,
  admission: string,
  limit: (pool: string) => Promise<number>,
): Promise<string | null> {
  for (const [at, pool] of pools.entries()) {
    if (await slots.take(pool, execution, admission, await limit(pool))) continue;
    for (const taken of pools.slice(0, at)) await slots.giveBack(taken, execution, { admission });
    return pool;
  }
  return null;
}

/**
 * Marks the run as running, then starts its state machine. If the process crashes between these steps, the sweeper
 * starts the state machine.
 */
async function startAdmitted(
  ports: QueuePorts,
  ticket: Ticket,
  record: Execution,
  admission: string,
): Promise<AdmitResult> {
  const { slots } = ports;
  if (!(await markRunning(ports, record.id, admission))) {
    for (const pool of ticket.pools) await slots.giveBack(pool, record.id, { admission });
    return { outcome: "gone" };
  }
  await beginExecution(ports, record);
  await slots.leave(ticket);
  return { outcome: "begun" };
}

async function markRunning({ executions }: QueuePorts, id: string, admission: string): Promise<boolean> {
  if (await executions.admit(id, { from: admission, to: admission, begun: true })) return true;
  // If an earlier try of the call succeeded, and only its answer was lost, the record shows this admission.
  const record = await executions.get(id);
  return record?.admission === admission && record.status !== "queued" && record.open;
}
