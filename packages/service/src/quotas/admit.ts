import { beginExecution, type Execution } from "@nova/engine";
import { decodeTime, ulid } from "ulid";
import type { ServicePorts } from "../ports/index.ts";
import type { Ticket } from "../ports/quotas.ts";
import { pauseOf } from "../workflows/find.ts";
import { poolName } from "./pools.ts";

export type QueuePorts = Pick<
  ServicePorts,
  "executions" | "stateMachines" | "slots" | "workflowStates" | "clients" | "admissions" | "clock"
>;

/**
 * What became of an attempt to begin a queued run: `busy` where somebody else is at it, `gone` where it waits no
 * longer, `held` where its workflow was paused while it waited for a slot of other pools than the workflow's. Whoever tried meanwhile to begin another run of the same pools may have stood back for it.
 */
export type Admitted = { outcome: "begun" | "busy" | "gone" | "held" } | { outcome: "full"; pool: string };

/** Whoever took longer to begin a run is taken for dead; if it is not, its admission has been overtaken. */
const abandonedMs = 30_000;

/** Takes a slot of each of its pools, and begins the run; or takes none. `limit`: slots that a pool has for it. */
export async function admit(
  ports: QueuePorts,
  ticket: Ticket,
  limit: (pool: string) => Promise<number>,
): Promise<Admitted> {
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
  const admission = laterThan(from, clock.now());
  if (!(await executions.admit(record.id, { from, to: admission }))) return { outcome: "busy" };
  const full = await takeSlots(ports, ticket, admission, limit);
  if (full === null) return begin(ports, ticket, record, admission);
  // Where nobody was overtaken, nobody acts on an earlier admission any more, and the run is as it was.
  await executions.admit(record.id, { from: admission, to: from && outOfDate(admission) });
  return { outcome: "full", pool: full };
}

/** Of two admissions of a run the later one has the greater id: a slot goes from the earlier to the later one only. */
function laterThan(from: string, now: number): string {
  return ulid(from === "" ? now : Math.max(now, decodeTime(from) + abandonedMs + 1));
}

/**
 * Free at once, as that of somebody who is taken for dead. An empty one would let the next admission be an earlier one than
 * that of somebody who was overtaken and is alive.
 */
function outOfDate(admission: string): string {
  return ulid(decodeTime(admission) - abandonedMs);
}

export function ticketOf({ id, pools = [], rank }: Execution): Ticket {
  return { execution: id, pools, rank };
}

/** Null where all are taken; else the pool that has none, and none is taken. */
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

/** The record says that it runs; a state machine that is not started behind that is started by the sweeper. */
async function begin(ports: QueuePorts, ticket: Ticket, record: Execution, admission: string): Promise<Admitted> {
  const { slots } = ports;
  if (!(await hasBegun(ports, record.id, admission))) {
    for (const pool of ticket.pools) await slots.giveBack(pool, record.id, { admission });
    return { outcome: "gone" };
  }
  await beginExecution(ports, record);
  await slots.leave(ticket);
  return { outcome: "begun" };
}

async function hasBegun({ executions }: QueuePorts, id: string, admission: string): Promise<boolean> {
  if (await executions.admit(id, { from: admission, to: admission, begun: true })) return true;
  // The first answer may have been lost on its way back.
  const record = await executions.get(id);
  return record?.admission === admission && record.status !== "queued" && record.open;
}
