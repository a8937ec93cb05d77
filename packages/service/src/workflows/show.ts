import { membersOf, type WorkflowVersion } from "@nova/engine";
import type { Trigger, Workflow, WorkflowSource } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import { NotFound, recoverFrom } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import { type Page, type PageQuery, pageFrom } from "../ports/page.ts";
import type { Paused, Publication, UnreadyVersion } from "../ports/workflow-states.ts";
import { isDraftId } from "./draft-id.ts";
import { noVersion, noWorkflow, pauseOf } from "./find.ts";

/** A definition without data of other clients: their triggers, and the recipients of failure notices. */
export function redactWorkflow(by: Principal, workflow: Workflow): Workflow {
  if (by.client === null) return workflow;
  const { onFailure: _, triggers, ...shared } = workflow;
  const own = triggers?.filter((trigger) => canSeeTrigger(by, trigger));
  return { ...shared, ...(own && own.length > 0 && { triggers: own }) };
}

/** Whether a caller may see a trigger. The key of one client sees only triggers of that client. `by` is null for the operator. */
export function canSeeTrigger(by: Principal | null, trigger: Trigger): boolean {
  return by === null || by.client === null || trigger.client === by.client;
}

/** Reads a definition, or `{definition, files}`. Keeps the definition's text, so that findings can name lines. */
export function sourceOf(body: string, folder?: string): WorkflowSource {
  const members = new Map(membersOf(body).map(({ key, json }) => [key, json]));
  const definition = members.get("definition");
  const isEnvelope = definition?.startsWith("{") === true && !members.has("nodes");
  return {
    text: isEnvelope ? definition : body,
    fileName: "workflow.json",
    files: isEnvelope ? (JSON.parse(members.get("files") ?? "{}") as Record<string, string>) : {},
    ...defined({ folder }),
    isSent: true,
  };
}

type ShowPorts = Pick<ServicePorts, "workflows" | "workflowStates" | "publications">;

/** A version as users see it, ready or not. */
export interface ShownWorkflow {
  version: WorkflowVersion | UnreadyVersion;
  /** The highest version number. */
  latest: number;
  /** The version for new runs; null while no version is ready. */
  active: number | null;
  /** The previously active version; null if unknown. */
  previous: number | null;
  /** Versions up to this one were deleted. */
  deleted: number;
  paused: Paused | undefined;
}

/** Returns a version, by default the latest, ready or not. Throws `NotFound`, also for a session's draft. */
export async function showWorkflow(ports: ShowPorts, id: string, number?: number): Promise<ShownWorkflow> {
  if (isDraftId(id)) throw noWorkflow(id);
  // The publication is read first: if it ends in between, it is already a version then.
  const queued = await ports.publications.latest(id);
  const [ready, state] = await Promise.all([ports.workflows.latest(id), ports.workflowStates.get(id)]);
  const { deleted = 0, active, before = [] } = state ?? {};
  const latest = Math.max(queued?.version ?? 0, ready?.version ?? 0);
  if (latest <= deleted) throw noWorkflow(id);
  const wanted = number ?? latest;
  const known = [unready(queued), ready].find((one) => one?.version === wanted);
  const version = known ?? (wanted > deleted ? await versionOf(ports, id, wanted) : undefined);
  if (!version) throw noVersion(id, number);
  const newest = ready && ready.version > deleted ? ready.version : null;
  const isThere = active !== undefined && active > deleted;
  const previous = before.at(-1) ?? null;
  return { version, latest, active: isThere ? active : newest, previous, deleted, paused: pauseOf(state) };
}

async function versionOf({ workflows, publications }: ShowPorts, workflowId: string, version: number) {
  const ready = await workflows.get(workflowId, version);
  return ready ?? unready(await publications.get({ workflowId, version }));
}

function unready(publication: Publication | undefined): UnreadyVersion | undefined {
  return publication && publication.status !== "ready" ? (publication as UnreadyVersion) : undefined;
}

/** Lists workflows by id, each with its latest version. */
export async function listWorkflows(ports: ShowPorts, { limit, cursor = "" }: PageQuery): Promise<Page<ShownWorkflow>> {
  const found: ShownWorkflow[] = [];
  const ids = await workflowIds(ports, cursor);
  while (ids.length > 0 && found.length <= limit) {
    const next = ids.splice(0, limit + 1).map((id) => showUnlessDeleted(ports, id));
    found.push(...(await Promise.all(next)).filter((workflow) => workflow !== undefined));
  }
  return pageFrom(found, limit, ({ version }) => version.workflowId);
}

async function workflowIds({ workflows, publications }: ShowPorts, after: string): Promise<string[]> {
  const lists = await Promise.all([publications, workflows].map((store) => Array.fromAsync(store.ids(after))));
  return [...new Set(lists.flat())].filter((id) => !isDraftId(id)).sort();
}

export function showUnlessDeleted(ports: ShowPorts, id: string): Promise<ShownWorkflow | undefined> {
  return showWorkflow(ports, id).catch(recoverFrom(NotFound, () => undefined));
}

/** Lists versions, newest first. Throws `NotFound`. */
export async function listVersions(
  ports: ShowPorts,
  id: string,
  { limit, cursor }: PageQuery,
): Promise<Page<ShownWorkflow["version"]> & Pick<ShownWorkflow, "active">> {
  const { latest, active, deleted } = await showWorkflow(ports, id);
  const first = Math.min(latest, (cursor === undefined ? latest + 1 : Number(cursor)) - 1);
  const numbers = Array.from({ length: Math.max(0, Math.min(limit + 1, first - deleted)) }, (_, i) => first - i);
  const found = await Promise.all(numbers.map((version) => versionOf(ports, id, version)));
  const there = found.filter((version) => version !== undefined);
  return { ...pageFrom(there, limit, ({ version }) => String(version)), active };
}
