import { toStateMachine } from "@nova/compiler";
import * as service from "@nova/service";
import { writeWorkflow } from "@nova/workflow";
import { z } from "zod";
import { OtherAnswer, route } from "../http/route.ts";
import { listRoute } from "../schemas/list.ts";
import { named, sentIn, VersionNumber, viewOf, WorkflowId, wholeNumber } from "../schemas/values.ts";
import * as schemas from "../schemas/workflow.ts";

const params = z.object({ id: WorkflowId });
const query = z.strictObject({ version: wholeNumber(1, 1_000_000_000).optional() });

const published = {
  200: { description: "it was the latest version already", schema: schemas.PublishedAnswer },
  201: { description: "a new version, ready", schema: schemas.PublishedAnswer },
  202: {
    description: "a version, `publishing` until Step Functions has it, or `failed` with the reason",
    schema: schemas.PublishedAnswer,
  },
};

export const create = route("POST /workflows", {
  summary: "Validate a definition, store it as the next version of its workflow, and publish it",
  role: "editor",
  body: schemas.Definition,
  answers: published,
  handle: async (ports, { by, text, once }) =>
    answerTo(await once(() => service.publish(ports, by, service.sourceOf(text)))),
});

export const replace = route("PUT /workflows/{id}", {
  summary: "Validate a definition, store it as the next version of the workflow with this id, and publish it",
  role: "editor",
  params,
  body: schemas.Definition,
  answers: published,
  handle: async (ports, { by, params: { id }, text }) =>
    answerTo(await service.publish(ports, by, service.sourceOf(text, id), { id })),
});

function answerTo(found: Awaited<ReturnType<typeof service.publish>>): OtherAnswer {
  return new OtherAnswer({ status: schemas.publishStatus(found), body: schemas.publishedAnswer(found) });
}

export const list = listRoute("/workflows", {
  summary: "Workflows by id",
  role: "viewer",
  item: schemas.WorkflowItem,
  cursor: /^[a-z0-9-]{1,64}$/,
  list: (ports, { page }) => service.listWorkflows(ports, page),
  show: schemas.workflowItem,
});

export const get = route("GET /workflows/{id}", {
  summary:
    "A workflow with its definition, but what in it is other clients' own; the latest version or the one asked for",
  role: "viewer",
  params,
  query,
  answers: { 200: { description: "the workflow", schema: schemas.WholeWorkflow } },
  handle: async (ports, { by, params: { id }, query: { version } }) =>
    schemas.wholeWorkflow(await service.showWorkflow(ports, id, version), by),
});

export const versions = listRoute("/workflows/{id}/versions", {
  summary: "Versions of a workflow, newest first",
  role: "viewer",
  params,
  item: schemas.VersionItem,
  cursor: /^\d{1,10}$/,
  async list(ports, { params: { id }, page }) {
    const { items, active, ...rest } = await service.listVersions(ports, id, page);
    return { ...rest, items: items.map((version) => schemas.versionItem(version, active)) };
  },
});

export const asl = route("GET /workflows/{id}/asl", {
  summary: "The state machine that a version compiles to",
  role: "viewer",
  params,
  query,
  answers: { 200: { description: "Amazon States Language", schema: z.looseObject({ StartAt: z.string() }) } },
  async handle(ports, { params: { id }, query }) {
    const { version } = await service.showWorkflow(ports, id, query.version);
    const { functions } = ports;
    return toStateMachine(version.workflow, functions ? { functions } : {});
  },
});

export const findings = route("GET /workflows/{id}/findings", {
  summary: "Present findings about a version, without those about its triggers, which publishing reports",
  role: "viewer",
  params,
  query,
  answers: { 200: { description: "the findings, as of POST /workflows/validate", schema: schemas.Validated } },
  async handle(ports, { by, params: { id }, query: { version } }) {
    const shown = await service.showWorkflow(ports, id, version);
    const { workflow, findings } = await service.validateWorkflow(ports, by, writeWorkflow(shown.version.workflow));
    return { valid: workflow !== undefined, findings };
  },
});

const Activated = named("ActivatedWorkflow", { id: WorkflowId, active_version: VersionNumber });

export const validate = route("POST /workflows/validate", {
  summary: "Findings about a definition; stores nothing",
  role: "viewer",
  body: schemas.Definition,
  answers: { 200: { description: "all findings; `valid` if none is an error", schema: schemas.Validated } },
  async handle(ports, { by, text }) {
    const { workflow, findings } = await service.validateWorkflow(ports, by, service.sourceOf(text));
    return { valid: workflow !== undefined, findings };
  },
});

export const activate = route("POST /workflows/{id}/activate", {
  summary: "Activate a version, which new runs use then",
  role: "editor",
  params,
  body: z.strictObject({ version: VersionNumber }),
  answers: { 200: { description: "activated", schema: Activated } },
  async handle(ports, { by, params: { id }, body: { version }, once }) {
    await once(() => service.activateVersion(ports, by, id, version));
    return { id, active_version: version };
  },
});

const pausing = (action: "pause" | "resume", summary: string, description: string) =>
  route(`POST /workflows/{id}/${action}`, {
    summary,
    role: "editor",
    params,
    answers: { 200: { description, schema: schemas.WorkflowItem } },
    async handle(ports, { by, params: { id } }) {
      await service.setWorkflowPaused(ports, by, id, action === "pause");
      return schemas.workflowItem(await service.showWorkflow(ports, id));
    },
  });

const pauseSummary = "Queue new runs of a workflow and let times of its schedules pass; runs that have begun go on";
export const pause = pausing("pause", pauseSummary, "paused");
export const resume = pausing("resume", "End the pause of a workflow; its queued runs begin", "not paused");

export const remove = route("DELETE /workflows/{id}", {
  summary: "Delete a workflow; its runs stay readable",
  role: "editor",
  params,
  answers: { 204: { description: "deleted" }, 409: { description: "runs are open" } },
  handle: (ports, { by, params: { id } }) => service.deleteWorkflow(ports, by, id),
});

const quotaAnswers = { 200: { description: "the quotas", schema: schemas.WorkflowQuotasBody } };

export const quotas = route("GET /workflows/{id}/quotas", {
  summary: "The quotas of a workflow",
  role: "viewer",
  params,
  answers: quotaAnswers,
  handle: async (ports, { params: { id } }) =>
    viewOf(schemas.WorkflowQuotasBody, await service.workflowQuotas(ports, id)),
});

export const setQuotas = route("PUT /workflows/{id}/quotas", {
  summary: "Replace the quotas of a workflow, of all its versions; needs a key for all clients",
  role: "editor",
  params,
  body: schemas.WorkflowQuotasBody,
  answers: quotaAnswers,
  async handle(ports, { by, params: { id }, body }) {
    const quotas = sentIn(body);
    await service.setWorkflowQuotas(ports, by, id, quotas);
    return viewOf(schemas.WorkflowQuotasBody, quotas);
  },
});

export const generations = listRoute("/workflows/{id}/generations", {
  summary: "Code that models wrote for a workflow; a key of one client sees its own code and the common code",
  role: "viewer",
  params,
  item: schemas.GenerationItem,
  async list(ports, { by, params: { id } }) {
    await service.findWorkflow(ports, id);
    const kept = await ports.generations.ofWorkflow(id);
    return kept.filter(({ client }) => client === null || service.reaches(by, client));
  },
  show: schemas.generationItem,
});

export const review = route("POST /workflows/{id}/generations/review", {
  summary: "Approve code of a model so that it may run, or reject it so that it does not run again",
  role: "editor",
  params,
  body: schemas.ReviewBody,
  answers: { 200: { description: "the code with its new status", schema: schemas.GenerationItem } },
  async handle(ports, { by, params: { id }, body: { node, client_slug, key, code_hash, verdict } }) {
    const review = { node, client: client_slug ?? null, key, codeHash: code_hash, verdict };
    return schemas.generationItem(await service.reviewCode(ports, by, id, review));
  },
});
