import {
  type Execution,
  freshProblem,
  reuseProblem,
  type StartRequest,
  startExecution,
  unchangedNodes,
  type WorkflowVersion,
} from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { demandClient, withVariables } from "../clients/clients.ts";
import { demandClientStill } from "../erasing/erase-run.ts";
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
  /** JSON text of an object; it lies over the variables of the client. */
  context: string;
  /** `by` wrote the context, so `{"$upload": id}` in it stands for bytes. Absent: it is data, whoever sent it. */
  namesUploads?: boolean;
  files?: NonNullable<StartRequest["files"]>;
  /** Absent: the key's own, or the one that everything without a client belongs to. */
  client?: string;
  /** Id of the trigger that starts it; absent: `by` asks for it. */
  trigger?: string;
  /** Absent: what is pinned for the client, or active. */
  version?: number;
  /** No model writes code: prompt nodes run locked code, or fail. Text nodes ask theirs. */
  frozen?: boolean;
  /** Prompt nodes whose code is written anew. */
  fresh?: readonly string[];
  /** An execution of the workflow for the same client: what its nodes came to counts where nothing has changed. */
  reuse?: string;
}

/**
 * Starts a run, or queues it for a quota, or until its workflow is resumed. Throws `NotFound`, `InputsRefused`; `Refused`
 * where the client has spent what it may, or nodes cannot be written anew; `Conflict` where the client is being erased.
 */
export async function execute(ports: ServicePorts, by: Principal, request: ExecuteRequest): Promise<Execution> {
  const { workflow, client = by.client ?? defaultClient } = request;
  const record = await demandClient(ports, by, client);
  const pin = request.version === undefined ? record?.pins[workflow] : undefined;
  const { version, quotas, isPaused } = await versionFor(ports, workflow, request.version ?? pin).catch(
    async (error) => {
      throw pin !== undefined && error instanceof NotFound ? await lostPin(ports, workflow, client, pin) : error;
    },
  );
  if (request.version !== undefined) await demandMachine(ports, version);
  await demandBudget(ports, record);
  const start = await startOf(ports, by, version, { ...request, client, variables: record?.variables });
  const counted = { workflow: version.workflowId, client, ofWorkflow: quotas, ofClient: record?.quotas, isPaused };
  const begun = await startOrQueue(ports, counted, (queue) => startExecution(ports, { ...start, ...queue }));
  await demandClientStill(ports, by, begun);
  return begun;
}

/** What a run of a version that is at hand begins with. */
export type VersionRequest = Omit<ExecuteRequest, "workflow" | "version">;

/** Starts a run that tries a version out: no quota and no pause holds it. Throws as `execute`. */
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
  const reuse = request.reuse === undefined ? undefined : await reusable(ports, by, request.reuse, { version, client });
  const id = `exec_${ulid}`;
  const whole = withVariables(variables, context);
  const placed = request.namesUploads
    ? await placeUploads(ports, { client, root: reuse?.source.root ?? id }, whole)
    : { context: whole, files: [] };
  const start = { id, version, context: placed.context, files: [...files, ...placed.files], client, frozen, fresh };
  return { ...start, ...defined({ reuse, trigger: request.trigger }) };
}

/** What a run may take over of an earlier one. Throws `ExecutionNotFound`, `Refused`. */
async function reusable(
  ports: ServicePorts,
  by: Principal,
  id: string,
  { version, client }: { version: WorkflowVersion; client: string },
): Promise<NonNullable<StartRequest["reuse"]>> {
  const source = await executionWithin(ports, by, id);
  const refusal = reuseProblem(source, version, client);
  if (refusal !== null) throw new Refused(refusal);
  const earlier = await ports.workflows.get(source.workflowId, source.version);
  const unchanged = earlier ? await unchangedNodes(version, earlier, ports.findLookedUpKeys) : {};
  return { source, unchanged };
}

/** The version of a workflow that is meant: absent, the one that is active. Throws `NotFound`. */
export async function versionFor(ports: ServicePorts, id: string, wanted?: number): Promise<FoundWorkflow> {
  if (isDraftId(id)) throw noWorkflow(id);
  const found = await findWorkflow(ports, id, wanted);
  return wanted !== undefined || found.version.version === found.active ? found : findWorkflow(ports, id, found.active);
}

/** Of a version that went with its workflow, where there is a new one by its name. Throws `NotFound` where there is none. */
async function lostPin(ports: ServicePorts, workflow: string, client: string, version: number): Promise<Refused> {
  await findWorkflow(ports, workflow);
  const way = `PATCH /clients/${client} with pins to others, or none`;
  return new Refused(`client "${client}" is pinned to version ${version} of "${workflow}", which was deleted - ${way}`);
}

const firstPauseMs = 15;
const longestPauseMs = 1_000;

/** The record once the run has ended, or as it is when the time is over. */
export async function untilEnded(ports: ServicePorts, id: string, withinMs: number): Promise<Execution | undefined> {
  const begin = ports.clock.now();
  for (;;) {
    const record = await ports.executions.get(id);
    const passedMs = ports.clock.now() - begin;
    if (passedMs >= withinMs || (record && hasEnded(record))) return record;
    // Where another process closes it, it is heard of late by a fifth of the time that it took.
    const pauseMs = Math.min(longestPauseMs, firstPauseMs + passedMs / 5);
    await ports.endings.wait(id, Math.min(pauseMs, withinMs - passedMs));
  }
}

export function hasEnded({ status }: Pick<Execution, "status">): boolean {
  return status !== "running" && status !== "waiting" && status !== "queued";
}
