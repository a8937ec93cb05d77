import { toStateMachine } from "@nova/compiler";
import {
  activateVersion,
  deleteWorkflow,
  findWorkflow,
  listVersions,
  listWorkflows,
  pauseWorkflow,
  publish,
  workflowQuotas as quotasOfWorkflow,
  reaches,
  resumeWorkflow,
  setWorkflowQuotas,
  showWorkflow,
  sourceOf,
  validateWorkflow,
} from "@nova/service";
import { z } from "zod";
import { type Answer, route } from "../http/route.ts";
import { ListQuery, listAnswer, listOf, pageOfAll, pageQuery } from "../schemas/list.ts";
import { WorkflowQuotasBody, workflowQuotas, workflowQuotasItem } from "../schemas/quotas.ts";
import { VersionNumber, WorkflowId, wholeNumber } from "../schemas/values.ts";
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

export const create = route({
  method: "POST",
  path: "/workflows",
  summary: "Validate, store a version, publish it; of an existing workflow it is the next version",
  role: "editor",
  body: schemas.Definition,
  answers: published,
  handle: async (ports, { by, text, once }) => answerTo(await once(() => publish(ports, by, sourceOf(text)))),
});

export const replace = route({
  method: "PUT",
  path: "/workflows/{id}",
  summary: "As POST /workflows, for the workflow of this id",
  role: "editor",
  params,
  body: schemas.Definition,
  answers: published,
  handle: async (ports, { by, params: { id }, text }) => answerTo(await publish(ports, by, sourceOf(text, id), { id })),
});

function answerTo(found: Awaited<ReturnType<typeof publish>>): Answer {
  const status = found.status !== "ready" ? 202 : found.created ? 201 : 200;
  return { status, body: schemas.publishedAnswer(found) };
}

export const list = route({
  method: "GET",
  path: "/workflows",
  summary: "Workflows by id",
  role: "viewer",
  query: ListQuery,
  answers: { 200: { description: "a page", schema: listOf(schemas.WorkflowItem) } },
  handle: async (ports, { query }) =>
    listAnswer(await listWorkflows(ports, pageQuery(query, /^[a-z0-9-]{1,64}$/)), schemas.workflowItem),
});

export const get = route({
  method: "GET",
  path: "/workflows/{id}",
  summary:
    "A workflow with its definition, but what in it is other clients' own; the latest version or the one asked for",
  role: "viewer",
  params,
  query,
  answers: { 200: { description: "the workflow", schema: schemas.WholeWorkflow } },
  handle: async (ports, { by, params: { id }, query: { version } }) => ({
    status: 200,
    body: schemas.wholeWorkflow(await showWorkflow(ports, id, version), by),
  }),
});

export const versions = route({
  method: "GET",
  path: "/workflows/{id}/versions",
  summary: "Versions of a workflow, newest first",
  role: "viewer",
  params,
  query: ListQuery,
  answers: { 200: { description: "a page", schema: listOf(schemas.VersionItem) } },
  async handle(ports, { params: { id }, query }) {
    const page = await listVersions(ports, id, pageQuery(query, /^\d{1,10}$/));
    return listAnswer(page, (version) => schemas.versionItem(version, page.active));
  },
});

export const asl = route({
  method: "GET",
  path: "/workflows/{id}/asl",
  summary: "The state machine that a version compiles to",
  role: "viewer",
  params,
  query,
  answers: { 200: { description: "Amazon States Language", schema: z.looseObject({ StartAt: z.string() }) } },
  async handle(ports, { params: { id }, query }) {
    const { version } = await showWorkflow(ports, id, query.version);
    const { functions } = ports;
    return { status: 200, body: toStateMachine(version.workflow, functions ? { functions } : {}) };
  },
});

const Activated = z.object({ id: WorkflowId, active_version: VersionNumber }).meta({ id: "ActivatedWorkflow" });

export const validate = route({
  method: "POST",
  path: "/workflows/validate",
  summary: "Findings about a definition, without a side effect",
  role: "viewer",
  body: schemas.Definition,
  answers: { 200: { description: "all findings; `valid` where none is an error", schema: schemas.Validated } },
  async handle(ports, { by, text }) {
    const { workflow, findings } = await validateWorkflow(ports, by, sourceOf(text));
    return { status: 200, body: { valid: workflow !== undefined, findings } };
  },
});

export const activate = route({
  method: "POST",
  path: "/workflows/{id}/activate",
  summary: "Make a version what new runs use, such as an earlier one",
  role: "editor",
  params,
  body: z.strictObject({ version: VersionNumber }),
  answers: { 200: { description: "activated", schema: Activated } },
  async handle(ports, { by, params: { id }, body: { version }, once }) {
    await once(() => activateVersion(ports, by, id, version));
    return { status: 200, body: { id, active_version: version } };
  },
});

export const pause = route({
  method: "POST",
  path: "/workflows/{id}/pause",
  summary: "Queue new runs of a workflow and let times of its schedules pass; runs that have begun go on",
  role: "editor",
  params,
  answers: { 200: { description: "paused", schema: schemas.WorkflowItem } },
  async handle(ports, { by, params: { id } }) {
    await pauseWorkflow(ports, by, id);
    return { status: 200, body: schemas.workflowItem(await showWorkflow(ports, id)) };
  },
});

export const resume = route({
  method: "POST",
  path: "/workflows/{id}/resume",
  summary: "End the pause of a workflow; its queued runs begin",
  role: "editor",
  params,
  answers: { 200: { description: "not paused", schema: schemas.WorkflowItem } },
  async handle(ports, { by, params: { id } }) {
    await resumeWorkflow(ports, by, id);
    return { status: 200, body: schemas.workflowItem(await showWorkflow(ports, id)) };
  },
});

export const remove = route({
  method: "DELETE",
  path: "/workflows/{id}",
  summary: "Delete a workflow; its executions stay readable",
  role: "editor",
  params,
  answers: { 204: { description: "deleted" }, 409: { description: "runs are open" } },
  async handle(ports, { by, params: { id } }) {
    await deleteWorkflow(ports, by, id);
    return { status: 204 };
  },
});

const quotaAnswers = { 200: { description: "the quotas", schema: WorkflowQuotasBody } };

export const quotas = route({
  method: "GET",
  path: "/workflows/{id}/quotas",
  summary: "How many runs of a workflow there may be at once",
  role: "viewer",
  params,
  answers: quotaAnswers,
  handle: async (ports, { params: { id } }) => ({
    status: 200,
    body: workflowQuotasItem(await quotasOfWorkflow(ports, id)),
  }),
});

export const setQuotas = route({
  method: "PUT",
  path: "/workflows/{id}/quotas",
  summary: "Replace the quotas of a workflow, of all its versions; needs a key for all clients",
  role: "editor",
  params,
  body: WorkflowQuotasBody,
  answers: quotaAnswers,
  async handle(ports, { by, params: { id }, body }) {
    const quotas = workflowQuotas(body);
    await setWorkflowQuotas(ports, by, id, quotas);
    return { status: 200, body: workflowQuotasItem(quotas) };
  },
});

export const generations = route({
  method: "GET",
  path: "/workflows/{id}/generations",
  summary: "Code that models wrote for a workflow: all of it, or that for the key's client and for everybody",
  role: "viewer",
  params,
  query: ListQuery,
  answers: { 200: { description: "a page", schema: listOf(schemas.GenerationItem) } },
  async handle(ports, { by, params: { id }, query }) {
    await findWorkflow(ports, id);
    const kept = await ports.generations.ofWorkflow(id);
    const within = kept.filter(({ client }) => client === null || reaches(by, client)).map(schemas.generationItem);
    const bytesOf = (item: object) => Buffer.byteLength(JSON.stringify(item));
    return listAnswer(pageOfAll(within, pageQuery(query, /^\d{1,9}$/), bytesOf), (item) => item);
  },
});
