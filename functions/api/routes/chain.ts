import { readTrace, renderJson, type TraceEntry } from "@nova/engine";
import { executionWithin, NotFound, readLink } from "@nova/service";
import { z } from "zod";
import { route } from "../http/route.ts";
import { ChainEntry } from "../schemas/execution.ts";
import { ListQuery, listAnswer, listOf, pageOfAll, pageQuery } from "../schemas/list.ts";
import { ExecutionId, Flag, wholeNumber } from "../schemas/values.ts";

export const list = route({
  method: "GET",
  path: "/executions/{id}/chain",
  summary:
    "The chain of work, branches inside of the links that they begin behind; `full` adds code, contexts and logs",
  role: "viewer",
  params: z.object({ id: ExecutionId }),
  query: ListQuery.extend({
    full: Flag.optional().meta({ description: "large values stay references; a link alone has them whole" }),
  }),
  answers: { 200: { description: "a page", schema: listOf(ChainEntry) } },
  async handle(ports, { by, params: { id }, query: { full = false, ...query } }) {
    await executionWithin(ports, by, id);
    const { entries } = await readTrace(ports, id, { full });
    return listAnswer(pageOfAll(entries, pageQuery(query, /^\d{1,9}$/), bytesOf), (entry) => entry);
  },
});

function bytesOf(entry: TraceEntry): number {
  return Buffer.byteLength(renderJson(entry));
}

export const entry = route({
  method: "GET",
  path: "/executions/{id}/chain/{seq}",
  summary: "One link; `full` adds code, contexts and logs",
  role: "viewer",
  params: z.object({ id: ExecutionId, seq: wholeNumber(0, 999_999_999) }),
  query: z.strictObject({
    full: Flag.optional(),
    scope: z.string().max(1000).optional().meta({ description: "of a link in a branch; absent: the main line" }),
  }),
  answers: { 200: { description: "the link", schema: ChainEntry } },
  async handle(ports, { by, params: { id, seq }, query: { full = false, scope = "" } }) {
    await executionWithin(ports, by, id);
    const found = await readLink(ports, id, { seq, scope, full });
    if (!found) throw new NotFound(`execution "${id}" has no link ${seq} - GET /executions/${id}/chain lists them`);
    return { status: 200, body: found };
  },
});
