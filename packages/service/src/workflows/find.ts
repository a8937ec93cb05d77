import type { WorkflowVersion } from "@nova/engine";
import { NotFound } from "../errors.ts";
import type { ServicePorts } from "../ports/index.ts";
import { type Page, type PageQuery, pageFrom } from "../ports/page.ts";

type FindPorts = Pick<ServicePorts, "workflows" | "workflowStates">;

/** A workflow that is there: the version asked for, and how it stands among the others. */
export interface FoundWorkflow {
  version: WorkflowVersion;
  latest: number;
  /** What new runs use. */
  active: number;
  /** Versions up to this one were deleted. */
  deleted: number;
}

/** Throws `NotFound`. Without a version it is the latest. */
export async function findWorkflow(ports: FindPorts, id: string, version?: number): Promise<FoundWorkflow> {
  const [latest, state] = await Promise.all([ports.workflows.latest(id), ports.workflowStates.get(id)]);
  const { deleted = 0, active } = state ?? {};
  if (!latest || latest.version <= deleted)
    throw new NotFound(`there is no workflow "${id}" - GET /workflows lists them`);
  const found = version === undefined ? latest : version > deleted ? await ports.workflows.get(id, version) : undefined;
  if (!found) {
    throw new NotFound(`workflow "${id}" has no version ${version} - GET /workflows/${id}/versions lists them`);
  }
  const isThere = active !== undefined && active > deleted;
  return { version: found, latest: latest.version, active: isThere ? active : latest.version, deleted };
}

/** By id, each with its latest version. */
export async function listWorkflows(ports: FindPorts, { limit, cursor = "" }: PageQuery): Promise<Page<FoundWorkflow>> {
  const found: FoundWorkflow[] = [];
  const ids = await workflowIds(ports, cursor);
  while (ids.length > 0 && found.length <= limit) {
    const next = ids.splice(0, limit + 1).map((id) => findUnlessDeleted(ports, id));
    found.push(...(await Promise.all(next)).filter((workflow) => workflow !== undefined));
  }
  return pageFrom(found, limit, ({ version }) => version.workflowId);
}

async function workflowIds({ workflows }: FindPorts, after: string): Promise<string[]> {
  const ids = new Set<string>();
  for await (const { workflowId } of workflows.list()) if (workflowId > after) ids.add(workflowId);
  return [...ids].sort();
}

async function findUnlessDeleted(ports: FindPorts, id: string): Promise<FoundWorkflow | undefined> {
  try {
    return await findWorkflow(ports, id);
  } catch (error) {
    if (error instanceof NotFound) return undefined;
    throw error;
  }
}

/** Newest first. Throws `NotFound`. */
export async function listVersions(
  ports: FindPorts,
  id: string,
  { limit, cursor }: PageQuery,
): Promise<Page<WorkflowVersion> & { active: number }> {
  const { latest, active, deleted } = await findWorkflow(ports, id);
  const first = Math.min(latest, (cursor === undefined ? latest + 1 : Number(cursor)) - 1);
  const numbers = Array.from({ length: Math.max(0, Math.min(limit + 1, first - deleted)) }, (_, i) => first - i);
  const found = await Promise.all(numbers.map((version) => ports.workflows.get(id, version)));
  const there = found.filter((version) => version !== undefined);
  return { ...pageFrom(there, limit, ({ version }) => String(version)), active };
}
