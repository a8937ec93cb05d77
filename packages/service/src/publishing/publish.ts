import type { Compiled } from "@nova/compiler";
import type { WorkflowVersion } from "@nova/engine";
import {
  type Finding,
  openApprovals,
  pastTimes,
  type Workflow,
  type WorkflowSource,
  workflowHash,
} from "@nova/workflow";
import { demandAllClients } from "../access/authenticate.ts";
import { recordDeed } from "../audit/audit.ts";
import { Refused } from "../errors.ts";
import { approvalFindings, mailFindings } from "../notices/notices.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import type { Publication, PublicationState } from "../ports/workflow-states.ts";
import { findClientProblems, findTriggerConflicts } from "../triggers/sync.ts";
import { findCallProblems } from "../workflows/called.ts";
import { isDraftId } from "../workflows/find.ts";
import { finishDeletion } from "./change.ts";
import { activateUnlessOlder } from "./move-active.ts";
import { waitUntilPublished } from "./publish-version.ts";

export type Publishable = Extract<Compiled, { workflow: Workflow }>;

/**
 * Checks a definition for its author. In addition to the findings of a publication, it reports approvals that any
 * runner key may answer.
 */
export async function validateWorkflow(
  ports: ServicePorts,
  by: Principal | null,
  source: WorkflowSource,
): Promise<Compiled> {
  const compiled = await compileSource(ports, by, source);
  if (!compiled.workflow) return compiled;
  return { ...compiled, findings: [...compiled.findings, ...openApprovals(compiled.workflow, source)] };
}

/**
 * Compiles and checks a definition without side effects. If the key is for one client, the findings contain nothing
 * about other clients.
 */
async function compileSource(
  ports: ServicePorts,
  by: Principal | null,
  source: WorkflowSource,
  kept: Kept = {},
): Promise<Compiled> {
  const { functions } = ports;
  const now = ports.clock.now();
  const parsed = await ports.compile(source, { functions });
  if (!parsed.workflow) return parsed;
  const compiled = { ...parsed, workflow: { ...kept, ...parsed.workflow } };
  const missing = await findCallProblems(ports, compiled.workflow);
  const taken = await findTriggerConflicts(ports, by, compiled.workflow);
  const errors = [...missing, ...taken, ...mailFindings(ports, compiled.workflow)];
  const warnings = [
    ...(await findClientProblems(ports, by, compiled.workflow)),
    ...pastTimes(compiled.workflow, now),
    ...approvalFindings(ports, compiled.workflow),
  ];
  const findings = [...compiled.findings, ...errors, ...warnings];
  return errors.length > 0 ? { findings } : { ...compiled, findings };
}

/** Compiles a workflow. Throws `Refused` with all findings if one of them is an error. */
async function demandValid(
  ports: ServicePorts,
  by: Principal | null,
  source: WorkflowSource,
  kept: Kept | undefined,
): Promise<Publishable> {
  const compiled = await compileSource(ports, by, source, kept);
  if (compiled.workflow) return compiled;
  const errors = compiled.findings.filter(({ severity }) => severity === "error");
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  throw new Refused(`${errors[0]?.code}: ${errors[0]?.message}${more}`, compiled.findings);
}

export type Stored = { created: boolean; publication: Publication } | { created: false; ready: WorkflowVersion };

/** Stores a new version. Returns the latest version instead if it has the same definition and has not failed. */
export async function storePublication(
  ports: ServicePorts,
  workflow: Workflow,
  template: string,
  draftOf?: string,
): Promise<Stored> {
  const hash = workflowHash(workflow);
  for (;;) {
    // Reads the publication before the version: if a publication becomes ready between the two reads, the second read
    // finds its version.
    const queued = await ports.publications.latest(workflow.id);
    const ready = await ports.workflows.latest(workflow.id);
    const version = Math.max(queued?.version ?? 0, ready?.version ?? 0) + 1;
    const isSame = (one?: Pick<Publication, "hash" | "template" | "version">) =>
      one?.version === version - 1 && one.hash === hash && one.template === template;
    if (ready && isSame(ready)) return { created: false, ready };
    if (queued?.status === "publishing" && isSame(queued)) return { created: false, publication: queued };
    const publication: Publication = {
      format: 1,
      workflowId: workflow.id,
      version,
      hash,
      workflow,
      template,
      createdAt: new Date(ports.clock.now()).toISOString(),
      ...(draftOf !== undefined && { draftOf }),
      status: "publishing",
    };
    if (await ports.publications.create(publication)) return { created: true, publication };
  }
}

export type Published = {
  id: string;
  version: number;
  /** Whether a new version was created; false if the latest version already had this definition. */
  created: boolean;
  isNew: boolean;
  findings: Finding[];
} & PublicationState;

export interface Publishing {
  /** The id that the definition must have; absent: any. */
  id?: string;
  /**
   * If true, a definition that is already the latest version is not activated again: a user may have rolled back from
   * it.
   */
  staysBack?: boolean;
  kept?: Kept;
}

/** Settings of an earlier version. The next version keeps them unless its definition has these settings itself. */
type Kept = Pick<Workflow, "triggers" | "onFailure">;

/**
 * Validates a definition, stores it as a version, and hands the version over for publication. New runs use the version
 * once it is `ready`. The audit gets a record only if new runs use another version than before. Throws `Refused` with
 * the findings, and `Forbidden` if the caller's key is for one client.
 */
export async function publish(
  ports: ServicePorts,
  by: Principal,
  source: WorkflowSource,
  { id, staysBack, kept }: Publishing = {},
): Promise<Published> {
  demandAllClients(by);
  const { workflow, findings } = await demandValid(ports, by, source, kept);
  if (id !== undefined && workflow.id !== id) {
    const found = `the definition's id (of its name, where it has none) is "${workflow.id}", the address says "${id}"`;
    throw new Refused(`${found} - write "id": "${id}" into it, or send it to the other address`);
  }
  if (isDraftId(workflow.id)) throw new Refused(`"${workflow.id}" is an id that only drafts have - choose another one`);
  await finishDeletion(ports, workflow.id);
  const template = await ports.templates.of(workflow);
  const stored = await storePublication(ports, workflow, template);
  const { version } = "ready" in stored ? stored.ready : stored.publication;
  const { isNew, ...state } = await publishStored(ports, stored, staysBack);
  if (isNew) {
    const deed = { action: "workflow.published", client: null, subject: workflow.id } as const;
    await recordDeed(ports, by, { ...deed, detail: { version } });
  }
  return { id: workflow.id, version, created: stored.created, isNew, findings, ...state };
}

async function publishStored(
  ports: ServicePorts,
  stored: Stored,
  staysBack?: boolean,
): Promise<PublicationState & { isNew: boolean }> {
  if ("ready" in stored) return { status: "ready", isNew: await activateUnlessOlder(ports, stored.ready, staysBack) };
  const isNew = stored.created;
  const state = await waitUntilPublished(ports, stored.publication);
  return state.status === "failed"
    ? { status: "failed", reason: state.reason, isNew }
    : { status: state.status, isNew };
}
