import { isDeepStrictEqual } from "node:util";
import { elementsOf, membersOf, objectText, valueAt, type WorkflowVersion } from "@nova/engine";
import { type Finding, slugOf, type Workflow, type WorkflowSource, workflowHash, writeWorkflow } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import { demandAllClients } from "../access/authenticate.ts";
import { recordDeed } from "../audit/audit.ts";
import { Conflict, Refused } from "../errors.ts";
import { versionFor } from "../executions/execute.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import type { DraftNode, PublishedDraft, RecordedEntry, Session } from "../ports/sessions.ts";
import { type Published, publish, storePublication, validateWorkflow } from "../publishing/publish.ts";
import { waitUntilPublished } from "../publishing/publish-version.ts";
import { findCallProblems } from "../workflows/called.ts";
import { findWorkflow, isDraftId } from "../workflows/find.ts";
import { sha256Of } from "./draft.ts";
import { buildDraftGraph } from "./draft-graph.ts";
import { restoreDigits, settingsOfTriggers } from "./draft-triggers.ts";
import { draftOfNodes } from "./from-workflow.ts";
import { sourceOfWhole } from "./part.ts";
import { changeSession } from "./record.ts";
import { bodyOf } from "./scope.ts";
import { readSession } from "./sessions.ts";

/**
 * Publishes the draft as the next version of `workflow`, of the workflow from which the session was made, or of a new
 * workflow with this `name`. Throws `Refused` with the findings, `Forbidden` for a key of one client, and `NotFound`.
 */
export async function publishSession(
  ports: ServicePorts,
  by: Principal,
  id: string,
  { workflow, name }: { workflow?: string; name?: string },
): Promise<Published & { session: Session }> {
  demandAllClients(by);
  const { session, answer } = await changeSession(ports, by, id, async (session) => {
    const { to, source, kept } = await preparePublication(ports, session, { workflow, name });
    const published = await publish(ports, by, source, { kept });
    const what = `it was published as version ${published.version} of "${to}"`;
    const { draft } = session.state;
    const settings = { ...settingsOfTriggers(kept), ...draft.settings };
    return { state: { ...session.state, draft: { ...draft, settings }, workflow: to }, what, answer: published };
  });
  const { version, id: as } = answer;
  const detail = { workflow: as, version };
  await recordDeed(ports, by, { action: "session.published", client: session.client, subject: id, detail });
  return { ...answer, session };
}

/**
 * Checks the definition that `publishSession` would publish, and publishes nothing. Throws as `publishSession` does.
 */
export async function checkPublication(
  ports: ServicePorts,
  by: Principal,
  id: string,
  named: { workflow?: string; name?: string },
): Promise<{ id: string; valid: boolean; findings: (Finding & { node?: string })[] }> {
  const { to, source } = await preparePublication(ports, await readSession(ports, by, id), named);
  const { workflow, findings } = await validateWorkflow(ports, by, source);
  const body = JSON.parse(source.text) as DraftNode;
  const nodeOf = ({ path }: Finding) => {
    const places = [...path.matchAll(/(?<=^\$(?:\.nodes\[\d+\])*)\.nodes\[(\d+)\]/g)];
    const find = (one: DraftNode | undefined, [, at]: readonly string[]) => one && bodyOf(one)?.nodes[Number(at)];
    return places.length === 0 ? undefined : places.reduce(find, body)?.id;
  };
  return {
    id: to,
    valid: workflow !== undefined,
    findings: findings.map((one) => ({ ...one, ...defined({ node: nodeOf(one) }) })),
  };
}

async function preparePublication(
  ports: ServicePorts,
  session: Session,
  { workflow, name = session.name }: { workflow?: string | undefined; name?: string | undefined },
) {
  const { state } = session;
  const to = workflow ?? state.workflow ?? slugOf(name);
  if (isDraftId(to)) throw new Refused(`"${to}" is the id of a draft - publish it under another one`);
  if (state.recorded) return { to, ...(await sourceOfChanges(ports, session, state.recorded, to)) };
  const latest = (await ports.workflows.latest(to))?.workflow;
  const draft = { ...state.draft, settings: restoreDigits(state.draft.settings, latest) };
  const source = sourceOfWhole(draft, buildDraftGraph(draft), { id: to, name });
  return { to, source, kept: keptOf(latest, draft.settings) };
}

/**
 * Returns the published triggers if the draft sets no triggers, and the published receivers of failures if the draft
 * sets no receivers. The next version keeps them.
 */
function keptOf(published: Workflow | undefined, { triggers, on_failure }: Readonly<Record<string, unknown>>) {
  return defined({
    triggers: triggers === undefined ? published?.triggers : undefined,
    onFailure: on_failure === undefined ? published?.onFailure : undefined,
  });
}

/**
 * Builds the definition of the active version, with the nodes that a user changed in a session that was made from one
 * entry of a run. Throws `Refused` if no node was changed, and `Conflict` if the active version and the version of the
 * run have different definitions of a changed node.
 */
async function sourceOfChanges(
  ports: ServicePorts,
  { state }: Session,
  { version }: RecordedEntry,
  to: string,
): Promise<{ source: WorkflowSource; kept: Pick<Workflow, "triggers" | "onFailure"> }> {
  if (state.workflow === undefined || to !== state.workflow)
    throw new Refused(`the session changes nodes of "${state.workflow}" - leave "workflow" out`);
  const original = (await findWorkflow(ports, to, version)).version.workflow;
  const { workflow } = (await versionFor(ports, to)).version;
  const ids = state.draft.nodes.map(({ id }) => id);
  const [before, now] = [original, workflow].map(
    (one) => new Map(draftOfNodes(one, ids).nodes.map((node) => [node.id, node])),
  );
  const isSame = (node: DraftNode, other: DraftNode | undefined) => isDeepStrictEqual(sorted(node), sorted(other));
  const changed = state.draft.nodes.filter((node) => !isSame(node, before?.get(node.id)));
  if (changed.length === 0) throw new Refused("no node was changed - change one first");
  for (const node of changed) {
    const current = now?.get(node.id);
    if (!current || isSame(current, before?.get(node.id)) || isSame(current, node)) continue;
    throw new Conflict(
      `the active version of "${to}" has another node "${node.id}" than version ${version} - make the change there`,
    );
  }
  const missing = changed.find(({ id }) => !now?.has(id));
  if (missing) throw new Conflict(`the active version of "${to}" has no node "${missing.id}" - make the change there`);
  const source = writeWorkflow(workflow);
  const text = changed.reduce((definition, node) => replaceNode(definition, node), source.text);
  const kept = defined({ triggers: workflow.triggers, onFailure: workflow.onFailure });
  return { source: { ...source, text, isSent: true }, kept };
}

/** Replaces a node of a definition, also in the body of a map. All other text stays unchanged. */
function replaceNode(definition: string, node: DraftNode): string {
  const members = membersOf(definition).map(({ key, json }) => {
    if (key !== "nodes") return { key, json };
    const nodes = elementsOf(json).map((one) =>
      valueAt(one, ["id"]) === JSON.stringify(node.id) ? JSON.stringify(node) : replaceNode(one, node),
    );
    return { key, json: `[${nodes.join(",")}]` };
  });
  return objectText(members);
}

/** Returns the fields of a node by name, because their order means nothing. */
function sorted(node: DraftNode | undefined) {
  return node && Object.entries(node).sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * A draft reuses a state machine only if it is among this number of newest state machines, which `dropOldMachines`
 * never removes.
 */
const keptMachines = 40;
const keptDrafts = 100;

/**
 * Returns the version that runs `source`, and the session's list of published drafts. If an earlier version has the
 * same definition, the function returns that version. If nodes changed but the graph did not, as in most edits, it
 * returns a new version on an existing state machine. In all other cases, it returns a new version with a new state
 * machine. Throws `Refused` with the findings, and `Conflict` while Step Functions has not accepted the version.
 */
export async function prepareDraftVersion(
  ports: ServicePorts,
  session: Session,
  source: WorkflowSource,
): Promise<{ version: WorkflowVersion; published: PublishedDraft[] }> {
  const { functions, workflows } = ports;
  const compiled = await ports.compile(source, { functions });
  const missing = compiled.workflow ? await findCallProblems(ports, compiled.workflow) : [];
  const errors = [...compiled.findings, ...missing].filter(({ severity }) => severity === "error");
  if (!compiled.workflow || errors.length > 0)
    throw new Refused(`${errors[0]?.code}: ${errors[0]?.message}`, [...compiled.findings, ...missing]);
  const { workflow, definition, history } = compiled;
  const [hash, machine] = [workflowHash(workflow), sha256Of(definition)];
  const { published } = session.state;
  const same = published.find((one) => one.hash === hash);
  const known = same && (await workflows.get(workflow.id, same.version));
  if (known) return { version: known, published };
  const template = await ports.templates.of(workflow);
  const machines = Math.max(0, ...published.map((one) => one.machines));
  const like = published.findLast((one) => one.machine === machine && machines - one.machines < keptMachines);
  const there = like && (await workflows.get(workflow.id, like.version));
  const named = { format: 1, workflowId: workflow.id, hash, workflow, template, draftOf: session.client } as const;
  if (like && there) {
    const version = Math.max(...published.map((one) => one.version)) + 1;
    const createdAt = new Date(ports.clock.now()).toISOString();
    const { stateMachineArn } = there;
    const made: WorkflowVersion = { ...named, version, stateMachineArn, createdAt, ...(history && { history }) };
    const draft = { version, hash, machine, machines: like.machines };
    // If another request has taken the version number, the draft is published with a state machine of its own.
    if (await workflows.create(made)) return { version: made, published: [...published, draft].slice(-keptDrafts) };
  }
  const version = await publishDraft(ports, named);
  const draft = { version: version.version, hash, machine, machines: machines + 1 };
  return { version, published: [...published, draft].slice(-keptDrafts) };
}

type Named = Pick<WorkflowVersion, "workflow" | "template"> & { draftOf: string };

async function publishDraft(ports: ServicePorts, { workflow, template, draftOf }: Named): Promise<WorkflowVersion> {
  const stored = await storePublication(ports, workflow, template, draftOf);
  if ("ready" in stored) return stored.ready;
  const publication = await waitUntilPublished(ports, stored.publication);
  if (publication.status === "failed") throw new Refused(publication.reason);
  const version = await ports.workflows.get(workflow.id, publication.version);
  if (version) return version;
  throw new Conflict("Step Functions has many workflows to publish before this draft - run it again in a moment");
}
