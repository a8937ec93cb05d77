import { membersOf, recoverFrom, type WorkflowVersion } from "@nova/engine";
import type { Trigger, Workflow, WorkflowSource } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import { Conflict, NotFound } from "../errors.ts";
import type { WorkflowQuotas } from "../ports/clients.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import { type Page, type PageQuery, pageFrom } from "../ports/page.ts";
import type { Session } from "../ports/sessions.ts";
import type { Paused, Publication, UnreadyVersion, VersionPointers, WorkflowState } from "../ports/workflow-states.ts";

/** The key of the pause of a whole workflow. It is not a valid trigger id, so no schedule has the same key. */
const wholeWorkflow = "*";

/** Returns the pause of a workflow, or of one of its schedules; undefined if it is not paused. */
export function pauseOf(
  state: Pick<WorkflowState, "paused"> | undefined,
  schedule = wholeWorkflow,
): Paused | undefined {
  return state?.paused?.[schedule];
}

type PausePorts = Pick<ServicePorts, "workflowStates" | "clock">;

/** Pauses or resumes a workflow (without `schedule`) or one schedule. Returns false if nothing changed. */
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

/** Removes the pauses of a deleted workflow, so a later workflow with the same id is not paused. */
export async function endPauses({ workflowStates }: Pick<ServicePorts, "workflowStates">, id: string): Promise<void> {
  for (;;) {
    const { paused } = (await workflowStates.get(id)) ?? {};
    if (!paused || (await workflowStates.pause(id, paused, {}))) return;
  }
}

/**
 * Returns `version`, the version for new runs (undefined if there is none); `state`, the state of the workflow; and
 * `before`, the previously active versions, oldest first.
 */
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
  latest: number;
  active: number;
  deleted: number;
  quotas: WorkflowQuotas | undefined;
  isPaused: boolean;
}

/** Finds a version, by default the latest ready one. Throws `NotFound`, and `Conflict` if the version is not ready. */
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

/**
 * Returns the error for a version that is not found. `deleted` is present if the workflow exists and only the version
 * is missing.
 */
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

/**
 * Throws `Conflict` if the state machine of a version was removed, so that the version cannot be pinned or activated.
 */
export async function demandMachine(
  { machineVersions }: Pick<ServicePorts, "machineVersions">,
  { workflowId, version, stateMachineArn }: WorkflowVersion,
): Promise<void> {
  if ((await machineVersions.list(stateMachineArn)).includes(stateMachineArn)) return;
  throw new Conflict(
    `version ${version} of "${workflowId}" is too old: its state machine was cleared away - publish its definition again`,
  );
}

const pattern = /^draft-[0-9a-hjkmnp-tv-z]{26}$/;

/** Returns the workflow id under which a session publishes drafts for its runs. */
export function draftId({ id }: Pick<Session, "id">): string {
  return id.replace(/^ses_/, "draft-").toLowerCase();
}

/** Returns whether the id belongs to a session. No other workflow may use such an id. */
export function isDraftId(id: string): boolean {
  return pattern.test(id);
}

/**
 * Returns a definition as the caller may see it. For a key of one client, it leaves out the triggers of other clients,
 * and the recipients of failure notices.
 */
export function redactWorkflow(by: Principal, workflow: Workflow): Workflow {
  if (by.client === null) return workflow;
  const { onFailure: _, triggers, ...shared } = workflow;
  const own = triggers?.filter((trigger) => canSeeTrigger(by, trigger));
  return { ...shared, ...(own && own.length > 0 && { triggers: own }) };
}

/**
 * Returns whether a caller may see a trigger. The key of one client sees only triggers of that client. `by` is null for
 * the operator.
 */
export function canSeeTrigger(by: Principal | null, trigger: Trigger): boolean {
  return by === null || by.client === null || trigger.client === by.client;
}

/**
 * Reads the body of a request: a definition, or `{definition, files}`. Keeps the definition's text, so that findings
 * can name lines.
 */
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

/** A version as users see it, ready or not. */
export interface ShownWorkflow {
  version: WorkflowVersion | UnreadyVersion;
  latest: number;
  /** The version for new runs; null while no version is ready. */
  active: number | null;
  /** The previously active version; null if unknown. */
  previous: number | null;
  deleted: number;
  paused: Paused | undefined;
}

/** Returns a version, ready or not; by default the latest version. Throws `NotFound`, also for a session's draft. */
export async function showWorkflow(ports: FindPorts, id: string, number?: number): Promise<ShownWorkflow> {
  if (isDraftId(id)) throw noWorkflow(id);
  // Reads the publication before the version: if a publication becomes ready between the two reads, the second read
  // finds its version.
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

async function versionOf({ workflows, publications }: FindPorts, workflowId: string, version: number) {
  const ready = await workflows.get(workflowId, version);
  return ready ?? unready(await publications.get({ workflowId, version }));
}

function unready(publication: Publication | undefined): UnreadyVersion | undefined {
  return publication && publication.status !== "ready" ? (publication as UnreadyVersion) : undefined;
}

export async function listWorkflows(ports: FindPorts, { limit, cursor = "" }: PageQuery): Promise<Page<ShownWorkflow>> {
  const found: ShownWorkflow[] = [];
  const ids = await workflowIds(ports, cursor);
  while (ids.length > 0 && found.length <= limit) {
    const next = ids.splice(0, limit + 1).map((id) => showUnlessDeleted(ports, id));
    found.push(...(await Promise.all(next)).filter((workflow) => workflow !== undefined));
  }
  return pageFrom(found, limit, ({ version }) => version.workflowId);
}

async function workflowIds({ workflows, publications }: FindPorts, after: string): Promise<string[]> {
  const lists = await Promise.all([publications, workflows].map((store) => Array.fromAsync(store.ids(after))));
  return [...new Set(lists.flat())].filter((id) => !isDraftId(id)).sort();
}

export function showUnlessDeleted(ports: FindPorts, id: string): Promise<ShownWorkflow | undefined> {
  return showWorkflow(ports, id).catch(recoverFrom(NotFound, () => undefined));
}

export async function listVersions(ports: FindPorts, id: string, { limit, cursor }: PageQuery) {
  const { latest, active, deleted } = await showWorkflow(ports, id);
  const first = Math.min(latest, (cursor === undefined ? latest + 1 : Number(cursor)) - 1);
  const numbers = Array.from({ length: Math.max(0, Math.min(limit + 1, first - deleted)) }, (_, i) => first - i);
  const found = await Promise.all(numbers.map((version) => versionOf(ports, id, version)));
  const there = found.filter((version) => version !== undefined);
  return { ...pageFrom(there, limit, ({ version }) => String(version)), active };
}
