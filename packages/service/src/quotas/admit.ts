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
 * The result of an attempt to start a queued run. `busy`: another process is starting it. `gone`: it no longer waits.
 * `held`: its workflow was paused while it waited for slots of other pools. During the attempt, another process may have
 * reserved a slot for this run and skipped later ones.
 */
export type AdmitResult = { outcome: "begun" | "busy" | "gone" | "held" } | { outcome: "full"; pool: string };

/** After this time, an attempt counts as crashed. If its process is still alive, the newer admission has replaced it. */
const abandonedMs = 30_000;

/** Takes a slot in each pool of a run and starts it, or takes none. `limit` returns the slots of a pool for this run. */
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
  // No earlier attempt can be active at this point, so the run's admission can be reset.
  await executions.admit(record.id, { from: admission, to: from && backDate(admission) });
  return { outcome: "full", pool: full };
}

/** Builds a later admission with a greater id. A slot only moves from an earlier admission to a later one. */
function nextAdmission(from: string, now: number): string {
  return ulid(from === "" ? now : Math.max(now, decodeTime(from) + abandonedMs + 1));
}

/**
 * Back-dates the admission, so the run is free immediately. An empty admission would let the next one be earlier than
 * that of a slow process which is still alive.
 */
function backDate(admission: string): string {
  return ulid(decodeTime(admission) - abandonedMs);
}

export function ticketOf({ id, pools = [], rank }: Execution): Ticket {
  return { execution: id, pools, rank };
}

/** Takes a slot in all pools and returns null; or takes none and returns the full pool. */
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

/** Marks the run as running, then starts its state machine. After a crash in between, the sweeper starts it. */
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
  // The answer of a successful first call may have been lost.
  const record = await executions.get(id);
  return record?.admission === admission && record.status !== "queued" && record.open;
}
