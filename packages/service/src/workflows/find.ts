import type { WorkflowVersion } from "@nova/engine";
import { Conflict, NotFound } from "../errors.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { WorkflowQuotas } from "../ports/quotas.ts";
import { pauseOf } from "./pauses.ts";

type FindPorts = Pick<ServicePorts, "workflows" | "workflowStates" | "publications">;

/** A workflow that runs can use: the version asked for, and how it stands among the others. */
export interface FoundWorkflow {
  version: WorkflowVersion;
  /** The latest that is ready. */
  latest: number;
  /** What new runs use. */
  active: number;
  /** Versions up to this one were deleted. */
  deleted: number;
  quotas: WorkflowQuotas | undefined;
  /** New runs of it wait. */
  isPaused: boolean;
}

/** Without a version it is the latest that is ready. Throws `NotFound`; `Conflict` where it is not ready. */
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

/** Why there is nothing to run. `deleted` where the workflow is there, and the version is not. */
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
