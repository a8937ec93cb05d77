import { readTrace, verifyExecution } from "@nova/engine";
import { cancel as cancelExecution, executionWithin, listExecutions, readExecution } from "@nova/service";
import { z } from "zod";
import { route } from "../http/route.ts";
import * as schemas from "../schemas/execution.ts";
import { ListQuery, listAnswer, listOf, pageQuery } from "../schemas/list.ts";
import { ExecutionId, endOf, Flag, Moment, Slug, WorkflowId } from "../schemas/values.ts";

const params = z.object({ id: ExecutionId });

export const list = route({
  method: "GET",
  path: "/executions",
  summary: "Executions, newest first",
  role: "viewer",
  query: ListQuery.extend({
    workflow: WorkflowId.optional(),
    client: Slug.optional(),
    status: schemas.ExecutionStatus.optional(),
    from: Moment.optional().meta({ description: "started then or later" }),
    to: Moment.optional().meta({ description: "started then or earlier; a date means all of that day" }),
  }),
  answers: { 200: { description: "a page", schema: listOf(schemas.ExecutionItem) } },
  async handle(ports, { by, query: { from, to, workflow, client, status, ...rest } }) {
    const { limit, cursor } = pageQuery(rest, /^\d{4}-\d\d-\d\dT[\d:.]+Z#exec_[0-9A-Z]{26}$/);
    const page = await listExecutions(ports, by, {
      limit,
      ...(cursor !== undefined && { cursor: Buffer.from(cursor).toString("base64url") }),
      ...(workflow !== undefined && { workflow }),
      ...(client !== undefined && { client }),
      ...(status !== undefined && { status }),
      ...(from !== undefined && { from: new Date(from).toISOString() }),
      ...(to !== undefined && { to: endOf(to) }),
    });
    const next = page.cursor && { cursor: Buffer.from(page.cursor, "base64url").toString() };
    return listAnswer({ items: page.items, ...next }, schemas.executionItem);
  },
});

export const get = route({
  method: "GET",
  path: "/executions/{id}",
  summary: "An execution: how it stands, what it knows, the way that it took",
  role: "viewer",
  params,
  query: z.strictObject({
    references: Flag.optional().meta({ description: "large values stay references, as in the chain of work" }),
  }),
  answers: { 200: { description: "the execution", schema: schemas.WholeExecution } },
  async handle(ports, { by, params: { id }, query: { references = false } }) {
    await executionWithin(ports, by, id);
    const read = references ? readTrace : readExecution;
    return { status: 200, body: schemas.wholeExecution(await read(ports, id)) };
  },
});

export const cancel = route({
  method: "POST",
  path: "/executions/{id}/cancel",
  summary: "Stop an execution; of one that is over it says how it ended",
  role: "runner",
  params,
  answers: { 200: { description: "how it ended", schema: schemas.Started } },
  async handle(ports, { by, params: { id }, once }) {
    const status = await once(async () => (await cancelExecution(ports, by, id)).status);
    return { status: 200, body: { execution_id: id, status } };
  },
});

export const verify = route({
  method: "GET",
  path: "/executions/{id}/verify",
  summary: "Check that the chain of work is whole and unchanged",
  role: "viewer",
  params,
  answers: { 200: { description: "what the check found", schema: schemas.Verified } },
  async handle(ports, { by, params: { id } }) {
    await executionWithin(ports, by, id);
    const { state, links, erased, problem } = await verifyExecution(ports, id);
    return { status: 200, body: { execution_id: id, state, links, erased, problem: problem ?? null } };
  },
});
