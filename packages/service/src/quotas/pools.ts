import type { Budgets } from "@nova/engine";
import { Refused } from "../errors.ts";
import { type Client, type ClientQuotas, defaultClient, type WorkflowQuotas } from "../ports/clients.ts";
import type { ServicePorts } from "../ports/index.ts";
import { pauseOf } from "../workflows/find.ts";

/** A pool of runs: of a workflow, of a client, of a workflow for one client, or of all runs. */
export type Pool =
  | { workflow: string; client?: string }
  | { client: string; workflow?: undefined }
  | { workflow?: undefined; client?: undefined };

export interface RunQuotas {
  workflow: string;
  client: string;
  ofWorkflow: WorkflowQuotas | undefined;
  ofClient: ClientQuotas | undefined;
  /** Whether the workflow of the run is paused; absent: false. */
  isPaused?: boolean;
  /** Maximum number of concurrent runs of all clients; absent: unlimited. */
  atOnce?: number | undefined;
}

/** The pool of all runs, for the limit of the E2B plan. A run counts while it is in progress. */
export const allRunsPool = "S";

/**
 * Returns the name of a pool: `W#<workflow>`, `C#<client>`, `P#<workflow>#<client>`, or `S` for all. No id contains a
 * `#`.
 */
export function poolName({ workflow, client }: Pool): string {
  if (workflow === undefined) return client === undefined ? allRunsPool : `C#${client}`;
  return client === undefined ? `W#${workflow}` : `P#${workflow}#${client}`;
}

export function readPool(name: string): Pool {
  const [kind, first = "", second = ""] = name.split("#");
  if (kind === allRunsPool) return {};
  if (kind === "C") return { client: first };
  return kind === "W" ? { workflow: first } : { workflow: first, client: second };
}

/**
 * Returns the pools of a run, in the order in which every run takes slots. A run without quotas and pauses has no
 * pools.
 */
export function poolsOf({ workflow, client, ofWorkflow, ofClient, isPaused, atOnce }: RunQuotas): string[] {
  const pools: Pool[] = [];
  if (ofClient?.maxConcurrent !== undefined) pools.push({ client });
  if (ofWorkflow?.maxConcurrentPerClient !== undefined) pools.push({ workflow, client });
  if (ofWorkflow?.maxConcurrent !== undefined || isPaused) pools.push({ workflow });
  if (atOnce !== undefined) pools.push({});
  return pools.map(poolName);
}

/** The number of slots of a pool whose quota was removed while runs waited in its queue. */
const unlimited = 1_000_000;

type LimitPorts = Pick<ServicePorts, "workflowStates" | "clients" | "admissions">;

/**
 * Builds a function that returns the number of slots of a pool: 0 while all queues are held, or while the workflow of
 * the pool is paused. The function caches what it reads.
 */
export function limitsOf(ports: LimitPorts): (name: string) => Promise<number> {
  const known = new Map<string, Promise<number>>();
  return async (name) => {
    if (ports.admissions?.held) return 0;
    const limit = known.get(name) ?? limitOf(ports, readPool(name));
    known.set(name, limit);
    return limit;
  };
}

async function limitOf({ workflowStates, clients, admissions }: LimitPorts, { workflow, client }: Pool) {
  if (workflow === undefined && client === undefined) return admissions?.atOnce ?? unlimited;
  if (workflow === undefined) return (await clients.get(client as string))?.quotas?.maxConcurrent ?? unlimited;
  const state = await workflowStates.get(workflow);
  if (pauseOf(state)) return 0;
  const { maxConcurrent, maxConcurrentPerClient } = state?.quotas ?? {};
  return (client === undefined ? maxConcurrent : maxConcurrentPerClient) ?? unlimited;
}

type MonthPorts = Pick<ServicePorts, "clients" | "spending" | "clock">;

/** Returns the month in UTC, which is the same for all clients. */
function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, "2026-11".length);
}

/**
 * Builds the budgets of clients. Each node that calls models has its own item, so a repeated report counts once, and
 * concurrent nodes do not wait for each other. The cost of a month is the sum of its items. A month has few items,
 * since most nodes run pinned code and call no model.
 */
export function createBudgets({ clients, spending, clock }: MonthPorts): Budgets {
  return {
    async ofMonth(client) {
      if (client === defaultClient) return null;
      const limitUsd = (await clients.get(client))?.quotas?.maxCostUsd;
      if (limitUsd === undefined) return null;
      return { limitUsd, spentUsd: await spending.ofMonth(client, monthOf(clock.now())) };
    },
    async note(client, node, usd) {
      if (client !== defaultClient) await spending.note(client, monthOf(clock.now()), node, usd);
    },
  };
}

/** Throws `Refused` if the client has spent its budget. Reads nothing for a client without a limit. */
export async function demandBudget({ spending, clock }: MonthPorts, client: Client | undefined): Promise<void> {
  const limitUsd = client?.quotas?.maxCostUsd;
  if (!client || limitUsd === undefined) return;
  const spentUsd = await spending.ofMonth(client.slug, monthOf(clock.now()));
  if (spentUsd < limitUsd) return;
  throw new Refused(
    `client "${client.slug}" has spent $${spentUsd.toFixed(2)} of $${limitUsd.toFixed(2)} on models this month - raise its quotas.max_cost_usd, or wait for the next month`,
  );
}
