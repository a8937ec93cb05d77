import {
  type Execution,
  freshProblem,
  type GivenOutcomes,
  planReuse,
  RestartRefused,
  reuseProblem,
  type StartRequest,
  startExecution,
  type WorkflowVersion,
} from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { demandClient, withVariables } from "../clients/clients.ts";
import { demandClientAfterStart } from "../erasing/erase-run.ts";
import { NotFound, Refused } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import { type Client, defaultClient } from "../ports/clients.ts";
import type { ServicePorts } from "../ports/index.ts";
import { demandBudget } from "../quotas/month.ts";
import { startOrQueue } from "../quotas/queue.ts";
import { placeUploads } from "../uploads/uploads.ts";
import { isDraftId } from "../workflows/draft-id.ts";
import { demandMachine, type FoundWorkflow, findWorkflow, noWorkflow } from "../workflows/find.ts";
import { executionWithin } from "./executions.ts";

export interface ExecuteRequest {
  /** ULID of the new execution. */
  ulid: string;
  workflow: string;
  /** JSON text of an object; its keys override the client's variables. */
  context: string;
  /** Whether the caller wrote the context, so `{"$upload": id}` in it names an upload. Absent: it is plain data. */
  namesUploads?: boolean;
  files?: NonNullable<StartRequest["files"]>;
  /** Absent: the client of the key, or the default client. */
  client?: string;
  /** Id of the trigger that starts the run; absent: a caller requests it. */
  trigger?: string;
  /** Absent: the version pinned for the client, or the active one. */
  version?: number;
  /** No model writes code: prompt nodes run locked code or fail. Text nodes still call their models. */
  frozen?: boolean;
  /** Prompt nodes whose code is written again. */
  fresh?: readonly string[];
  /** An execution of the workflow for the same client, whose outcomes of unchanged nodes are reused. */
  reuse?: string;
}

/**
 * Starts a run, or queues it for a quota or a paused workflow. Throws `NotFound`, `InputsRefused`; `Refused` if the
 * client's budget is spent, or a node in `fresh` has no written code; `Conflict` if the client is being erased.
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

/** The request to run a given version. */
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
  return { ...start, ...defined({ outcomes, trigger: request.trigger }) };
}

/** Finds the outcomes of an earlier run that a new one may reuse. Throws `ExecutionNotFound`, `Refused`. */
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

/** The error for a pin whose version was deleted while the workflow exists. Throws `NotFound` if the workflow is gone, too. */
async function lostPinError(ports: ServicePorts, workflow: string, client: string, version: number): Promise<Refused> {
  await findWorkflow(ports, workflow);
  const wayOut = `PATCH /clients/${client} with pins to others, or none`;
  return new Refused(
    `client "${client}" is pinned to version ${version} of "${workflow}", which was deleted - ${wayOut}`,
  );
}

const firstPauseMs = 15;
const longestPauseMs = 1_000;

/** Returns the record once the run has ended, or its current state after `withinMs`. */
export async function untilEnded(ports: ServicePorts, id: string, withinMs: number): Promise<Execution | undefined> {
  const begin = ports.clock.now();
  for (;;) {
    const record = await ports.executions.get(id);
    const passedMs = ports.clock.now() - begin;
    if (passedMs >= withinMs || (record && hasEnded(record))) return record;
    // If another process closes the run, this notices it after at most 20 % more time.
    const pauseMs = Math.min(longestPauseMs, firstPauseMs + passedMs / 5);
    await ports.endings.wait(id, Math.min(pauseMs, withinMs - passedMs));
  }
}

export function hasEnded({ status }: Pick<Execution, "status">): boolean {
  return status !== "running" && status !== "waiting" && status !== "queued";
}
