import {
  type Execution,
  type Forecast,
  planRestart,
  RestartRefused,
  type RestartRequest,
  restartExecution,
  Source,
  ulidFrom,
} from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { recordDeed } from "../audit/audit.ts";
import { demandClient } from "../clients/clients.ts";
import { demandClientAfterStart } from "../erasing/erase-run.ts";
import { Refused } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import { demandBudget } from "../quotas/month.ts";
import { startOrQueue } from "../quotas/queue.ts";
import { demandMachine, findWorkflow } from "../workflows/find.ts";
import { executionWithin } from "./executions.ts";

export interface RestartWish extends Pick<RestartRequest, "from" | "patch" | "again"> {
  /** Absent: the execution's own version. */
  version?: number;
}

/**
 * Restarts an execution, or queues the restart, as `execute` does. Throws `ExecutionNotFound`, `NotFound`, `Refused`,
 * `InputsRefused`, `Conflict`; nothing is stored then.
 */
export async function restart(
  ports: ServicePorts,
  by: Principal,
  id: string,
  { ulid, ...wish }: RestartWish & { ulid: string },
): Promise<Execution> {
  const { request, found, record } = await requestFor(ports, by, id, wish);
  await demandBudget(ports, record);
  const { workflowId: workflow, client } = request.source;
  const quotas = { ofWorkflow: found.quotas, ofClient: record?.quotas, isPaused: found.isPaused };
  const begun = await startOrQueue(ports, { workflow, client, ...quotas }, async (queue) => {
    return (await restartExecution(ports, { ...request, id: `exec_${ulid}`, ...queue })).execution;
  }).catch(refused);
  const detail = defined({ as: begun.id, version: begun.version, from: wish.from && [wish.from].flat().join(", ") });
  await recordDeed(ports, by, { action: "execution.restarted", client, subject: id, detail });
  await demandClientAfterStart(ports, by, begun);
  return begun;
}

/** Forecasts a restart without storing anything. Throws as `restart` does, except for a version that does not fit, which the forecast reports. */
export async function forecastRestart(
  ports: ServicePorts,
  by: Principal,
  id: string,
  wish: RestartWish,
): Promise<Forecast> {
  const { request } = await requestFor(ports, by, id, wish);
  return (await planRestart(ports, request).catch(refused)).forecast;
}

function refused(cause: unknown): never {
  // A store throws `UnknownExecution` if the source was erased since it was read.
  const isRefusal = cause instanceof Error && (cause instanceof RestartRefused || cause.name === "UnknownExecution");
  throw isRefusal ? new Refused(cause.message, [], { cause }) : cause;
}

async function requestFor(ports: ServicePorts, by: Principal, id: string, { version, ...wish }: RestartWish) {
  const source = await executionWithin(ports, by, id);
  if (source.parent) throw await partOfAnother(ports, source);
  if (wish.patch?.includes('"$upload"'))
    throw new Refused("the patch names an upload, which a restart cannot take - start a new execution with it");
  const record = await demandClient(ports, by, source.client);
  const found = await findWorkflow(ports, source.workflowId, version ?? source.version);
  await demandMachine(ports, found.version);
  return { request: { source, version: found.version, ...wish, by: by.id }, found, record };
}

/** The error for an execution inside another one. It names the place from which the outermost execution can be restarted. */
async function partOfAnother(ports: ServicePorts, { id, ...source }: Execution): Promise<Refused> {
  let [root, parent, place] = [id, source.parent, ""];
  while (parent) {
    const { execution, scope, seq } = parent;
    const { entries } = await Source.read(ports, execution);
    const found = entries.values().find(({ head }) => head.scope === scope && head.seq === seq);
    place = `${found?.name ?? "<node>"}/${place}`;
    root = execution;
    parent = (await ports.executions.get(root))?.parent;
  }
  return new Refused(`execution ${id} is a part of ${root} - restart ${root} --from ${place}...`);
}

/**
 * Returns the run that a repeated request gets: the first run, or its restart if the process of the first run was
 * killed. A sender repeats a request that had no answer. Two concurrent repetitions create the same restart. Throws as
 * `restart` does.
 */
export async function continueRun(ports: ServicePorts, by: Principal, run: Execution): Promise<Execution> {
  if (run.status !== "interrupted" || run.erased) return run;
  const latest = run.restarts?.at(-1);
  const begun = latest === undefined ? undefined : await ports.executions.get(latest);
  if (begun?.restartedFrom === run.id) return continueRun(ports, by, begun);
  // A run names its restart before the restart starts, so after a crash the same restart starts.
  const ulid = latest?.slice("exec_".length) ?? ulidFrom(Date.parse(run.endedAt ?? run.startedAt), `again ${run.id}`);
  return restart(ports, by, run.id, { ulid });
}
