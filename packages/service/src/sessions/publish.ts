import type { WorkflowVersion } from "@nova/engine";
import { slugOf, type WorkflowSource, workflowHash } from "@nova/workflow";
import { demandAllClients } from "../access/authenticate.ts";
import { recordDeed } from "../audit/audit.ts";
import { Conflict, Refused } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { PublishedDraft, Session } from "../ports/sessions.ts";
import { type Published, publish, storePublication } from "../publishing/publish.ts";
import { waitUntilPublished } from "../publishing/publish-version.ts";
import { findMissingCalls } from "../workflows/called.ts";
import { isDraftId } from "../workflows/find.ts";
import { sha256Of } from "./draft.ts";
import { buildDraftGraph } from "./draft-graph.ts";
import { sourceOfWhole } from "./part.ts";
import { changeSession } from "./record.ts";

/**
 * Publishes the draft as the next version of a workflow: of `workflow`, of the workflow that the session was made from,
 * or of a new workflow with this `name`. Throws `Refused` with the findings, `Forbidden` for a key of one client,
 * `NotFound`.
 */
export async function publishSession(
  ports: ServicePorts,
  by: Principal,
  id: string,
  { workflow, name }: { workflow?: string; name?: string },
): Promise<Published & { session: Session }> {
  demandAllClients(by);
  const { session, answer } = await changeSession(ports, by, id, async (session) => {
    const { state } = session;
    const named = name ?? session.name;
    const to = workflow ?? state.workflow ?? slugOf(named);
    if (isDraftId(to)) throw new Refused(`"${to}" is the id of a draft - publish it under another one`);
    await demandNoTriggers(ports, to);
    const source = sourceOfWhole(state.draft, buildDraftGraph(state.draft), { id: to, name: named });
    const published = await publish(ports, by, source);
    const what = `it was published as version ${published.version} of "${to}"`;
    return { state: { ...state, workflow: to }, what, answer: published };
  });
  const { version, id: as } = answer;
  await recordDeed(ports, by, {
    action: "session.published",
    client: session.client,
    subject: id,
    detail: { workflow: as, version },
  });
  return { ...answer, session };
}

/** Throws `Refused` if the workflow has triggers or failure recipients: a session does not hold them, so publishing would remove them. */
async function demandNoTriggers({ workflows }: Pick<ServicePorts, "workflows">, id: string): Promise<void> {
  const { workflow } = (await workflows.latest(id)) ?? {};
  const lost = [...(workflow?.triggers?.length ? ["triggers"] : []), ...(workflow?.onFailure ? ["on_failure"] : [])];
  if (lost.length === 0) return;
  throw new Refused(
    `workflow "${id}" has ${lost.join(" and ")}, which a session does not hold and a publication would take away - publish it under another id`,
  );
}

/**
 * A draft reuses a state machine only if it is among this many newest ones, which are certainly kept; see
 * `dropOldMachines`.
 */
const keptMachines = 40;
const keptDrafts = 100;

/**
 * Returns the version that runs `source`, and the session's list of published drafts. This is an earlier version if the
 * definition is the same. If only nodes changed and not the graph, as in most edits, it is a new version on an existing
 * state machine. In all other cases, it is a new version with a new state machine. Throws `Refused` with the findings,
 * `Conflict` while Step Functions has not accepted it.
 */
export async function prepareDraftVersion(
  ports: ServicePorts,
  session: Session,
  source: WorkflowSource,
): Promise<{ version: WorkflowVersion; published: PublishedDraft[] }> {
  const { functions, workflows } = ports;
  const compiled = await ports.compile(source, { functions });
  const missing = compiled.workflow ? await findMissingCalls(ports, compiled.workflow) : [];
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
