import { readTrace, runningLog, traceTag } from "@nova/engine";
import { executionWithin, NotFound, readLink } from "@nova/service";
import { z } from "zod";
import { route } from "../http/route.ts";
import { ChainEntry } from "../schemas/chain.ts";
import { Printed } from "../schemas/execution.ts";
import { listRoute } from "../schemas/list.ts";
import { ExecutionId, Flag, wholeNumber } from "../schemas/values.ts";

export const list = listRoute("/executions/{id}/chain", {
  summary: "The chain of work, with branches inside the entries of their forks; `full` adds code, contexts and logs",
  role: "viewer",
  params: z.object({ id: ExecutionId }),
  query: { full: Flag.optional().meta({ description: "large values stay references; a single entry has them whole" }) },
  item: ChainEntry,
  tag: async (ports, { by, params: { id } }) => traceTag(ports, await executionWithin(ports, by, id)),
  async list(ports, { by, params: { id }, query: { full = false } }) {
    await executionWithin(ports, by, id);
    return (await readTrace(ports, id, { full })).entries;
  },
});

const link = z.object({ id: ExecutionId, seq: wholeNumber(0, 999_999_999) });
const Scope = z
  .string()
  .max(1000)
  .optional()
  .meta({ description: "scope of an entry in a branch; absent: the main line" });

export const entry = route("GET /executions/{id}/chain/{seq}", {
  summary: "One entry; `full` adds code, contexts and logs",
  role: "viewer",
  params: link,
  query: z.strictObject({
    full: Flag.optional(),
    scope: Scope,
    references: Flag.optional().meta({ description: "large values stay references, as in the chain of work" }),
  }),
  answers: { 200: { description: "the entry", schema: ChainEntry } },
  async handle(ports, { by, params: { id, seq }, query: { full = false, scope = "", references = false } }) {
    await executionWithin(ports, by, id);
    const found = await readLink(ports, id, { seq, scope, full, references });
    if (!found) throw new NotFound(`execution "${id}" has no link ${seq} - GET /executions/${id}/chain lists them`);
    return found;
  },
});

export const logs = route("GET /executions/{id}/chain/{seq}/logs", {
  summary: "Output of the code that runs for an entry; the entry has the output of code that has ended",
  role: "viewer",
  params: link,
  query: z.strictObject({
    scope: Scope,
    after: z
      .string()
      .regex(/^\d{1,9}-\d{1,9}-\d{1,15}$/, "use a `next` that was answered")
      .optional()
      .meta({ description: "`next` of the answer before: answers only later output" }),
  }),
  answers: { 200: { description: "the text, secrets masked", schema: Printed } },
  async handle(ports, { by, params: { id, seq }, query: { scope = "", after } }) {
    await executionWithin(ports, by, id);
    const [afterStep = 0, afterAttempt = 0, afterBytes = 0] = (after ?? "").split("-").map(Number);
    const place = { step: afterStep, attempt: afterAttempt, bytes: afterBytes };
    const printed = await runningLog(ports, id, { seq, scope }, after === undefined ? undefined : place);
    if (!printed) return { text: "", left_out: 0, next: null };
    const { step, attempt, bytes } = printed.next;
    return { text: printed.text, left_out: printed.leftOut, next: `${step}-${attempt}-${bytes}` };
  },
});
