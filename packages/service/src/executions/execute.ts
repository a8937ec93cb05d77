import {
  type Execution,
  freshProblem,
  type GivenOutcomes,
  planRestart,
  planReuse,
  RestartRefused,
  type RestartRequest,
  restartExecution,
  reuseProblem,
  Source,
  type StartRequest,
  startExecution,
  ulidFrom,
  type WorkflowVersion,
} from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { recordDeed } from "../audit/audit.ts";
import { demandClient, withVariables } from "../clients/clients.ts";
import { demandClientAfterStart } from "../erasing/erase-run.ts";
import { NotFound, Refused } from "../errors.ts";
import { type Client, defaultClient } from "../ports/clients.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import { demandBudget } from "../quotas/pools.ts";
import { startOrQueue } from "../quotas/queue.ts";
import { placeUploads } from "../uploads/uploads.ts";
import { demandMachine, type FoundWorkflow, findWorkflow, isDraftId, noWorkflow } from "../workflows/find.ts";
import { executionWithin } from "./executions.ts";

export interface ExecuteRequest {
  ulid: string;
  workflow: string;
  /** The initial context as the JSON text of an object. Its keys override the client's variables. */
  context: string;
  /**
   * Whether the caller wrote the context, so `{"$upload": id}` in it names an upload. Absent: the context is plain
   * data.
   */
  namesUploads?: boolean;
  files?: NonNullable<StartRequest["files"]>;
  /** The client of the run; absent: the client of the key, or the default client. */
  client?: string;
  /** Id of the trigger that starts the run; absent: a caller requests it. */
  trigger?: string;
  /** The version to run; absent: the version pinned for the client, or the active one. */
  version?: number;
  /** If true, no model writes code: prompt nodes run locked code or fail. Text nodes still call their models. */
  frozen?: boolean;
  /** Ids of prompt nodes whose code a model writes again. */
  fresh?: readonly string[];
  /** Id of an earlier execution of the workflow for the same client. The outcomes of its unchanged nodes are reused. */
  reuse?: string;
}

/**
 * Starts a run, or queues it for a quota or a paused workflow. Throws `NotFound`, `InputsRefused`, and `Conflict` if
 * the client is being erased. Throws `Refused` if the client has spent its budget, or if a node in `fresh` has no
 * written code.
 */
export async function execute(ports: ServicePorts, by: Principal, request: ExecuteRequest): Promise<Execution> {
  const { workflow, client = by.client ?? defaultClient } = request;
  const record = await demandClient(ports, by, client);
  const pin = request.version === undefined ? record?.pins[workflow] : undefined;
  const { version, quotas, isPaused } = await versionFor(ports, workflow, request.version ?? pin).catch(
    async (error) => {
      throw pin !== undefined && error instanceof NotFound ? await lostPinError(ports, workflow, client, pin) : error;
    },
  );
  if (request.version !== undefined) await demandMachine(ports, version);
  await demandBudget(ports, record);
  const start = await startOf(ports, by, version, { ...request, client, variables: record?.variables });
  const counted = { workflow: version.workflowId, client, ofWorkflow: quotas, ofClient: record?.quotas, isPaused };
  const begun = await startOrQueue(ports, counted, (queue) => startExecution(ports, { ...start, ...queue }));
  await demandClientAfterStart(ports, by, begun);
  return begun;
}

export type VersionRequest = Omit<ExecuteRequest, "workflow" | "version">;

/** Starts a run of a version without quotas and pauses, to try it out. Throws as `execute` does. */
export async function executeVersion(
  ports: ServicePorts,
  by: Principal,
  version: WorkflowVersion,
  { client = by.client ?? defaultClient, ...request }: VersionRequest,
): Promise<Execution> {
  const record = await demandClient(ports, by, client);
  return startExecution(ports, await startOf(ports, by, version, { ...request, client, variables: record?.variables }));
}

interface ClientsRequest extends VersionRequest {
  client: string;
  variables: Client["variables"] | undefined;
}

async function startOf(
  ports: ServicePorts,
  by: Principal,
  version: WorkflowVersion,
  { ulid, client, variables, context, files = [], frozen = false, fresh = [], ...request }: ClientsRequest,
): Promise<StartRequest> {
  const problem = freshProblem(version.workflow, { frozen, fresh });
  if (problem !== null) throw new Refused(problem);
  const outcomes =
    request.reuse === undefined
      ? undefined
      : await findReusableOutcomes(ports, by, request.reuse, { version, client, fresh });
  const id = `exec_${ulid}`;
  const whole = withVariables(variables, context);
  const placed = request.namesUploads
    ? await placeUploads(ports, { client, root: outcomes?.root ?? id }, whole)
    : { context: whole, files: [] };
  const start = { id, version, context: placed.context, files: [...files, ...placed.files], client, frozen, fresh };
  return { ...start, ...defined({ outcomes, trigger: request.trigger, starter: by.person }) };
}

/**
 * Finds the outcomes of an earlier run that a new run may reuse. Throws `ExecutionNotFound`, and `Refused` if the new
 * run cannot reuse this run.
 */
async function findReusableOutcomes(
  ports: ServicePorts,
  by: Principal,
  id: string,
  { version, client, fresh }: { version: WorkflowVersion; client: string; fresh: readonly string[] },
): Promise<GivenOutcomes> {
  const source = await executionWithin(ports, by, id);
  const refusal = reuseProblem(source, version, client);
  if (refusal !== null) throw new Refused(refusal);
  const request = { version, fresh, findLookedUpKeys: ports.findLookedUpKeys };
  return planReuse(ports, source, request).catch((error: unknown) => {
    throw error instanceof RestartRefused ? new Refused(error.message, [], { cause: error }) : error;
  });
}

/** Finds the wanted version of a workflow, by default the active one. Throws `NotFound`. */
export async function versionFor(ports: ServicePorts, id: string, wanted?: number): Promise<FoundWorkflow> {
  if (isDraftId(id)) throw noWorkflow(id);
  const found = await findWorkflow(ports, id, wanted);
  return wanted !== undefined || found.version.version === found.active ? found : findWorkflow(ports, id, found.active);
}

/** Returns the error for a pin to a version that was deleted. Throws `NotFound` if the whole workflow was deleted. */
async function lostPinError(ports: ServicePorts, workflow: string, client: string, version: number): Promise<Refused> {
  await findWorkflow(ports, workflow);
  const wayOut = `PATCH /clients/${client} with pins to others, or none`;
  return new Refused(
    `client "${client}" is pinned to version ${version} of "${workflow}", which was deleted - ${wayOut}`,
  );
}

const firstPauseMs = 15;
const longestPauseMs = 1_000;

/** Waits until the run has ended, for at most `withinMs`, and returns its record. */
export async function untilEnded(ports: ServicePorts, id: string, withinMs: number): Promise<Execution | undefined> {
  const begin = ports.clock.now();
  for (;;) {
    const record = await ports.executions.get(id);
    const passedMs = ports.clock.now() - begin;
    if (passedMs >= withinMs || (record && hasEnded(record))) return record;
    // Checks less and less often. If another process closes the run, this adds at most about 20 % to the time that was
    // already waited.
    const pauseMs = Math.min(longestPauseMs, firstPauseMs + passedMs / 5);
    await ports.endings.wait(id, Math.min(pauseMs, withinMs - passedMs));
  }
}

export function hasEnded({ status }: Pick<Execution, "status">): boolean {
  return status !== "running" && status !== "waiting" && status !== "queued";
}

export interface RestartWish extends Pick<RestartRequest, "from" | "patch" | "again"> {
  /** The version to run; absent: the version that the restarted execution ran. */
  version?: number;
}

/**
 * Restarts an execution, or queues the restart, as `execute` does. Throws `ExecutionNotFound`, `NotFound`, `Refused`,
 * `InputsRefused`, `Conflict`. After each of these errors, nothing is stored.
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

/**
 * Forecasts a restart without storing anything. Throws as `restart` does. But if the version does not fit the
 * execution, the forecast says so instead.
 */
export async function forecastRestart(ports: ServicePorts, by: Principal, id: string, wish: RestartWish) {
  const { request } = await requestFor(ports, by, id, wish);
  return (await planRestart(ports, request).catch(refused)).forecast;
}

function refused(cause: unknown): never {
  // A store throws `UnknownExecution` if the source of the restart was erased after this function read it.
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
  return { request: { source, version: found.version, ...wish, by: by.id, starter: by.person }, found, record };
}

/**
 * Returns the error for the restart of an execution inside another execution. The message names the place from which
 * the outermost execution can be restarted.
 */
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
 * Returns the run for a request that a sender repeats because the sender got no answer: the run of the first request.
 * If the process of that run was killed, returns a restart of that run. Two concurrent repetitions create the same
 * restart. Throws as `restart` does.
 */
export async function continueRun(ports: ServicePorts, by: Principal, run: Execution): Promise<Execution> {
  if (run.status !== "interrupted" || run.erased) return run;
  const latest = run.restarts?.findLast((id) => !run.sessionRuns?.includes(id));
  const begun = latest === undefined ? undefined : await ports.executions.get(latest);
  if (begun?.restartedFrom === run.id) return continueRun(ports, by, begun);
  // A run names its restart before that restart starts. After a crash, the next call starts the restart that the run
  // already names.
  const ulid = latest?.slice("exec_".length) ?? ulidFrom(Date.parse(run.endedAt ?? run.startedAt), `again ${run.id}`);
  return restart(ports, by, run.id, { ulid });
}
