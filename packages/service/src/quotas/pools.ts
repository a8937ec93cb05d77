import type { ServicePorts } from "../ports/index.ts";
import type { ClientQuotas, WorkflowQuotas } from "../ports/quotas.ts";
import { pauseOf } from "../workflows/find.ts";

/** Whose runs a pool counts: a workflow's, a client's, a workflow's for one client, or everybody's. */
export type Pool =
  | { workflow: string; client?: string }
  | { client: string; workflow?: undefined }
  | { workflow?: undefined; client?: undefined };

export interface RunQuotas {
  workflow: string;
  client: string;
  ofWorkflow: WorkflowQuotas | undefined;
  ofClient: ClientQuotas | undefined;
  /** The workflow is; absent: it is not. */
  isPaused?: boolean;
  /** How many runs of everybody may be at work at once; absent: as many as come. */
  atOnce?: number | undefined;
}

/** The pool of the plan of E2B: every run counts in it while it is at work. */
export const everybody = "S";

/** `W#<workflow>`, `C#<client>`, `P#<workflow>#<client>`, `S` of everybody: no id has a `#` in it. */
export function poolName({ workflow, client }: Pool): string {
  if (workflow === undefined) return client === undefined ? everybody : `C#${client}`;
  return client === undefined ? `W#${workflow}` : `P#${workflow}#${client}`;
}

export function readPool(name: string): Pool {
  const [kind, first = "", second = ""] = name.split("#");
  if (kind === everybody) return {};
  if (kind === "C") return { client: first };
  return kind === "W" ? { workflow: first } : { workflow: first, client: second };
}

/** The pools of which a run needs a slot, in the order in which every run takes them; none where no quota counts it
 * and nothing is paused. */
export function poolsOf({ workflow, client, ofWorkflow, ofClient, isPaused, atOnce }: RunQuotas): string[] {
  const pools: Pool[] = [];
  if (ofClient?.maxConcurrent !== undefined) pools.push({ client });
  if (ofWorkflow?.maxConcurrentPerClient !== undefined) pools.push({ workflow, client });
  if (ofWorkflow?.maxConcurrent !== undefined || isPaused) pools.push({ workflow });
  if (atOnce !== undefined) pools.push({});
  return pools.map(poolName);
}

/** More than anything runs at once: a quota that was lifted while its queue was not empty. */
const unlimited = 1_000_000;

type LimitPorts = Pick<ServicePorts, "workflowStates" | "clients" | "admissions">;

/** How many slots a pool has now, which is none while queues are held or its workflow is paused; each is looked up once. */
export function limitsOf(ports: LimitPorts): (name: string) => Promise<number> {
  const known = new Map<string, Promise<number>>();
  return async (name) => {
    if (ports.admissions?.held) return 0;
    const limit = known.get(name) ?? limitOf(ports, readPool(name));
    known.set(name, limit);
    return limit;
  };
}

async function limitOf(
  { workflowStates, clients, admissions }: LimitPorts,
  { workflow, client }: Pool,
): Promise<number> {
  if (workflow === undefined && client === undefined) return admissions?.atOnce ?? unlimited;
  if (workflow === undefined) return (await clients.get(client as string))?.quotas?.maxConcurrent ?? unlimited;
  const state = await workflowStates.get(workflow);
  if (pauseOf(state)) return 0;
  const { maxConcurrent, maxConcurrentPerClient } = state?.quotas ?? {};
  return (client === undefined ? maxConcurrent : maxConcurrentPerClient) ?? unlimited;
}
