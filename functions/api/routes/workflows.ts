import { toStateMachine } from "@nova/compiler";
import { listVersions, listWorkflows, publish, showWorkflow, sourceOf } from "@nova/service";
import { z } from "zod";
import { type Answer, route } from "../http/route.ts";
import { ListQuery, listAnswer, listOf, pageQuery } from "../schemas/list.ts";
import { WorkflowId, wholeNumber } from "../schemas/values.ts";
import * as schemas from "../schemas/workflow.ts";

const { Definition, PublishedAnswer } = schemas;
const params = z.object({ id: WorkflowId });
const query = z.strictObject({ version: wholeNumber(1, 1_000_000_000).optional() });

const published = {
  200: { description: "it was the latest version already", schema: PublishedAnswer },
  201: { description: "a new version, ready", schema: PublishedAnswer },
  202: {
    description: "a version, `publishing` until Step Functions has it, or `failed` with the reason",
    schema: PublishedAnswer,
  },
};

export const create = route({
  method: "POST",
  path: "/workflows",
  summary: "Validate, store a version, publish it; of an existing workflow it is the next version",
  role: "editor",
  body: Definition,
  answers: published,
  handle: async (ports, { by, text, once }) => answerTo(await once(() => publish(ports, by, sourceOf(text)))),
});

export const replace = route({
  method: "PUT",
  path: "/workflows/{id}",
  summary: "As POST /workflows, for the workflow of this id",
  role: "editor",
  params,
  body: Definition,
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
