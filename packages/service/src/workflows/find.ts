import type { WorkflowVersion } from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { Conflict, NotFound } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { WorkflowQuotas } from "../ports/quotas.ts";
import type { Paused, VersionPointers, WorkflowState } from "../ports/workflow-states.ts";

/** Not a valid trigger id, so it cannot collide with one. */
const wholeWorkflow = "*";

/** The pause of a workflow, or of one of its schedules; undefined if it is not paused. */
export function pauseOf(
  state: Pick<WorkflowState, "paused"> | undefined,
  schedule = wholeWorkflow,
): Paused | undefined {
  return state?.paused?.[schedule];
}

type PausePorts = Pick<ServicePorts, "workflowStates" | "clock">;

/** Pauses or resumes a workflow (without `schedule`) or one schedule. False if nothing changed. */
export async function setPaused(
  { workflowStates, clock }: PausePorts,
  by: Principal,
  { workflow, schedule = wholeWorkflow, isPaused }: { workflow: string; schedule?: string; isPaused: boolean },
): Promise<boolean> {
  for (;;) {
    const { paused: from = {} } = (await workflowStates.get(workflow)) ?? {};
    if ((from[schedule] !== undefined) === isPaused) return false;
    const { [schedule]: _, ...others } = from;
    const pause = { at: new Date(clock.now()).toISOString(), by: by.id };
    if (await workflowStates.pause(workflow, from, isPaused ? { ...others, [schedule]: pause } : others)) return true;
  }
}

/** Removes the pauses of a deleted workflow, so a later workflow with its id is not paused. */
export async function endPauses({ workflowStates }: Pick<ServicePorts, "workflowStates">, id: string): Promise<void> {
  for (;;) {
    const { paused } = (await workflowStates.get(id)) ?? {};
    if (!paused || (await workflowStates.pause(id, paused, {}))) return;
  }
}

/** Returns the version for new runs (undefined if there is none), the state it was read from, and previous versions, oldest first. */
export async function findActive(
  { workflows, workflowStates }: Pick<ServicePorts, "workflows" | "workflowStates">,
  workflowId: string,
) {
  const { active, deleted, touched, before = [] } = (await workflowStates.get(workflowId)) ?? {};
  const state: VersionPointers = defined({ active, deleted, touched });
  const version = active === undefined ? await workflows.latest(workflowId) : await workflows.get(workflowId, active);
  return { state, before, version: version && version.version > (deleted ?? 0) ? version : undefined };
}

type FindPorts = Pick<ServicePorts, "workflows" | "workflowStates" | "publications">;

/** A version that runs can use, with the state of its workflow. */
export interface FoundWorkflow {
  version: WorkflowVersion;
  /** The latest ready version. */
  latest: number;
  /** The version for new runs. */
  active: number;
  /** Versions up to this one were deleted. */
  deleted: number;
  quotas: WorkflowQuotas | undefined;
  /** New runs are queued. */
  isPaused: boolean;
}

/** Finds a version, by default the latest ready one. Throws `NotFound`; `Conflict` if it is not ready. */
export async function findWorkflow(ports: FindPorts, id: string, version?: number): Promise<FoundWorkflow> {
  const [latest, state] = await Promise.all([ports.workflows.latest(id), ports.workflowStates.get(id)]);
  const { deleted = 0, active, quotas } = state ?? {};
  const isPaused = pauseOf(state) !== undefined;
  if (!latest || latest.version <= deleted) throw await reasonFor(ports, id, version);
  const found = version === undefined ? latest : version > deleted ? await ports.workflows.get(id, version) : undefined;
  if (!found) throw await reasonFor(ports, id, version, deleted);
  const isThere = active !== undefined && active > deleted;
  const newest = latest.version;
  return { version: found, latest: newest, active: isThere ? active : newest, deleted, quotas, isPaused };
}

/** The error for a missing version. With `deleted`, the workflow exists and only the version is missing. */
async function reasonFor(
  { publications }: Pick<FindPorts, "publications">,
  workflowId: string,
  version: number | undefined,
  deleted?: number,
): Promise<NotFound | Conflict> {
  const unready =
    version === undefined ? await publications.latest(workflowId) : await publications.get({ workflowId, version });
  const name = `version ${unready?.version} of "${workflowId}"`;
  if (unready?.status === "publishing") return new Conflict(`${name} is being published - try again in a moment`);
  if (unready?.status === "failed") return new Conflict(`${name} could not be published: ${unready.reason}`);
  return deleted === undefined ? noWorkflow(workflowId) : noVersion(workflowId, version);
}

export function noWorkflow(id: string): NotFound {
  return new NotFound(`there is no workflow "${id}" - GET /workflows lists them`);
}

export function noVersion(id: string, version: number | undefined): NotFound {
  return new NotFound(`workflow "${id}" has no version ${version} - GET /workflows/${id}/versions lists them`);
}

/** Throws `Conflict` if the state machine of an old version, which shall be pinned or activated, was removed. */
export async function demandMachine(
  { machineVersions }: Pick<ServicePorts, "machineVersions">,
  { workflowId, version, stateMachineArn }: WorkflowVersion,
): Promise<void> {
  if ((await machineVersions.list(stateMachineArn)).includes(stateMachineArn)) return;
  throw new Conflict(
    `version ${version} of "${workflowId}" is too old: its state machine was cleared away - publish its definition again`,
  );
}
