import { diffExecutions, type Execution, readState, traceTag } from "@nova/engine";
import * as service from "@nova/service";
import { defined } from "@nova/workflow";
import { z } from "zod";
import { Unreadable } from "../http/errors.ts";
import { maxBytes, refuseLarge } from "../http/read-body.ts";
import { type Answer, OtherAnswer, openRoute, route } from "../http/route.ts";
import * as schemas from "../schemas/execution.ts";
import { LabelText, Started, WholeExecution } from "../schemas/execution.ts";
import { ListQuery, listAnswer, listOf, listRoute, pageOfAll, pageQuery } from "../schemas/list.ts";
import * as values from "../schemas/values.ts";

const params = z.object({ id: values.ExecutionId });

/**
 * Maximum number of run records that one request reads to find the runs that match its filters. 500 records have about
 * half a megabyte.
 */
const lookedAt = 500;

/** Pattern of a cursor: the time and the id of the last run on a page. */
const executionCursor = /^\d{4}-\d\d-\d\dT[\d:.]+Z#exec_[0-9A-Z]{26}$/;

/**
 * Encodes a position in base64url, as the store expects it. `listRoute` passes positions without this encoding, because
 * it encodes cursors itself.
 */
function storeCursor(cursor: string | undefined) {
  return cursor === undefined ? {} : { cursor: Buffer.from(cursor).toString("base64url") };
}

function readableCursor(cursor: string | undefined) {
  return cursor === undefined ? {} : { cursor: Buffer.from(cursor, "base64url").toString() };
}

export const list = listRoute("/executions", {
  summary: "Runs, newest first",
  role: "viewer",
  query: {
    workflow: values.WorkflowId.optional(),
    client: values.Slug.optional(),
    status: schemas.ExecutionStatuses.optional(),
    error_class: z
      .string()
      .regex(/^[A-Za-z]{1,64}$/, "it has to be a class of errors, such as NodeFailed")
      .optional()
      .describe("class of the error that ended them"),
    trigger: z.string().min(1).max(64).optional().describe("the trigger that started them"),
    label: LabelText.optional(),
    from: values.Moment.optional().describe("started then or later"),
    to: values.Moment.optional().describe("started then or earlier; a date means the whole day"),
  },
  item: schemas.ExecutionItem,
  cursor: executionCursor,
  async list(
    ports,
    { by, query: { from, to, status: statuses, error_class: errorClass, ...wanted }, page: { limit, cursor } },
  ) {
    const found = await service.listExecutions(ports, by, {
      limit,
      looksAt: lookedAt,
      ...wanted,
      ...defined({ errorClass, statuses }),
      ...storeCursor(cursor),
      ...(from !== undefined && { from: new Date(from).toISOString() }),
      ...(to !== undefined && { to: values.endOf(to) }),
    });
    return { items: found.items, ...readableCursor(found.cursor) };
  },
  show: schemas.executionItem,
});

export const get = route("GET /executions/{id}", {
  summary: "A run: its status, context and path",
  role: "viewer",
  params,
  query: z.strictObject({
    references: values.Flag.optional().describe("large values stay references, as in the chain of work"),
  }),
  answers: { 200: { description: "the run", schema: schemas.WholeExecution } },
  tag: async (ports, { by, params: { id } }) => traceTag(ports, await service.executionWithin(ports, by, id)),
  async handle(ports, { by, params: { id }, query: { references = false } }) {
    await service.executionWithin(ports, by, id);
    const read = references ? readState : service.readExecution;
    return schemas.wholeExecution(await read(ports, id));
  },
});

export const cancel = route("POST /executions/{id}/cancel", {
  summary: "Cancel a run; answers the end of a run that is over",
  role: "runner",
  params,
  answers: {
    200: {
      description:
        "how it ended; as it was (`running`) where it is stopped, and its many branches take longer to close",
      schema: schemas.Started,
    },
  },
  async handle(ports, { by, params: { id }, once }) {
    const status = await once(async () => (await service.cancel(ports, by, id)).status);
    return { execution_id: id, status };
  },
});

export const erase = route("POST /executions/{id}/erase", {
  summary: "Erase the contents of a run and its restarts; digests stay, and verify",
  role: "admin",
  params,
  answers: { 202: { description: "NOVA erases them within some minutes", schema: schemas.Erased } },
  async handle(ports, { by, params: { id }, once }) {
    return { execution_id: id, erased: await once(() => service.erase(ports, by, id)) };
  },
});

export const verify = route("GET /executions/{id}/verify", {
  summary: "Check that the chain of work is whole and unchanged",
  role: "viewer",
  params,
  answers: { 200: { description: "the result of the check", schema: schemas.Verified } },
  async handle(ports, { by, params: { id } }) {
    return schemas.verified(id, await service.verify(ports, by, id));
  },
});

export const verifyMany = listRoute("/verifications", {
  summary: "Check the chains of work of many runs, newest first",
  role: "viewer",
  query: { workflow: values.WorkflowId.optional(), client: values.Slug.optional(), label: LabelText.optional() },
  item: schemas.Verified,
  cursor: executionCursor,
  async list(ports, { by, query, page: { limit, cursor } }) {
    const found = await service.verifyRuns(ports, by, { limit, ...query, ...storeCursor(cursor) });
    return { items: found.items, ...readableCursor(found.cursor) };
  },
  show: ({ id, found }) => schemas.verified(id, found),
});

/**
 * Maximum number of nodes on a page. In practice, a page ends earlier, when the answer is full. Small pages would be
 * slow, because each page compares both runs as a whole.
 */
const nodesOfPage = 100_000;

export const diff = route("GET /executions/{a}/diff/{b}", {
  summary: "Two runs node by node: path, definition, code, context, cost and time",
  role: "viewer",
  params: z.object({ a: values.ExecutionId, b: values.ExecutionId }),
  query: ListQuery.omit({ limit: true }),
  answers: { 200: { description: "a page", schema: listOf(schemas.NodeDiff) } },
  async handle(ports, { by, params: { a, b }, query }) {
    const page = { ...pageQuery(query, /^\d{1,9}$/), limit: nodesOfPage };
    for (const id of [a, b]) await service.executionWithin(ports, by, id);
    return listAnswer(pageOfAll(await diffExecutions(ports, a, b), page));
  },
});

const waitQuery = values.waitQueryOf("seconds");

const NodeIds = z.array(z.string().min(1).max(64)).max(100);

export const execute = route("POST /workflows/{id}/execute", {
  summary: "Start a run; with `wait` the answer has its result if it ends in time",
  role: "runner",
  params: z.object({ id: values.WorkflowId }),
  query: waitQuery,
  body: z.strictObject({
    client_slug: values.Slug.optional(),
    context: values.ExactObject.optional(),
    version: values.VersionNumber.optional().describe(
      "absent: the version that the client has pinned, or the active one",
    ),
    fresh: NodeIds.optional().describe("ids of prompt nodes for which a model writes code again, although code exists"),
    frozen: z.boolean().optional().describe("no model writes code: prompt nodes run locked code, or fail"),
    reuse: values.ExecutionId.optional().describe(
      "an earlier execution for the same client: nodes that are defined as they were, and find the values that they found, are not run again",
    ),
  }),
  bodyMayBeAbsent: true,
  exact: ["context"],
  answers: {
    200: { description: "it ended in time", schema: schemas.WholeExecution },
    202: { description: "it runs, or waits for a slot (`queued`)", schema: schemas.Started },
  },
  async handle(ports, { by, params, query: { wait = 0 }, body, once }) {
    const { client_slug: client, context, frozen = false, fresh = [], ...version } = body;
    const given = { context: context?.text ?? "{}", namesUploads: true, ...(client !== undefined && { client }) };
    const begun = await once(
      async (ulid) => {
        const request = { ulid, workflow: params.id, ...given, frozen, fresh, ...version };
        return startedRun(await service.execute(ports, by, request));
      },
      continuedRun(ports, by),
    );
    return new OtherAnswer(await resultOf(ports, begun, wait));
  },
});

/** A place, such as `billing/each[3].find#2`. */
const Place = z.string().min(1).max(2_000);
/**
 * The maximum number of places in a restart. It is limited, because the audit record and entry 0 of the restart contain
 * all of them.
 */
const maxPlaces = 1_000;

export const restart = route("POST /executions/{id}/restart", {
  summary: "Restart a run from its failed nodes, or from places; reuses the nodes before them",
  role: "runner",
  params,
  query: waitQuery,
  body: z.strictObject({
    from: z
      .union([Place, z.array(Place).min(1).max(maxPlaces)])
      .optional()
      .describe(
        "the place, or a list of the places, from which on everything runs: `find`, `poll#2`, `each[3]` (all of an item), `each[3].find`, `billing/send`; absent: what failed, also what a map has tolerated",
      ),
    version: values.VersionNumber.optional().describe("absent: the version of the run"),
    context_patch: values.ExactObject.optional().describe("other values for keys of the initial context"),
    ask_again: NodeIds.optional().describe("ids of nodes that run again at all their places"),
    dry_run: z.boolean().optional().describe("lists the reused and the running places; writes nothing"),
  }),
  bodyMayBeAbsent: true,
  exact: ["context_patch"],
  answers: {
    200: {
      description: "it ended in time; with `dry_run` the forecast",
      schema: z.union([schemas.WholeExecution, schemas.RestartForecast]),
    },
    202: { description: "it runs, or waits for a slot (`queued`)", schema: schemas.Restarted },
  },
  async handle(ports, { by, params: { id }, query: { wait = 0 }, body, once }) {
    const { context_patch: patch, ask_again: again, dry_run, ...place } = body;
    const wish = { ...place, ...defined({ patch: patch?.text, again }) };
    if (dry_run) return service.forecastRestart(ports, by, id, wish);
    const begun = await once(
      async (ulid) => startedRun(await service.restart(ports, by, id, { ulid, ...wish })),
      continuedRun(ports, by),
    );
    return new OtherAnswer(await resultOf(ports, begun, wait, { restarted_from: begun.restartedFrom ?? id }));
  },
});

type StartedRun = Pick<Execution, "id" | "status" | "restartedFrom">;

function startedRun({ id, status, restartedFrom }: Execution): StartedRun {
  return { id, status, ...defined({ restartedFrom }) };
}

/**
 * Answers a repeated request with the current state of its run. If the run was interrupted, restarts it and answers
 * with the restart.
 */
function continuedRun(ports: service.ServicePorts, by: service.Principal) {
  return async ({ id }: StartedRun) =>
    startedRun(await service.continueRun(ports, by, await service.executionWithin(ports, by, id)));
}

/** Answers 200 with the run if it ends in time, otherwise 202 with its id. */
async function resultOf(
  ports: service.ServicePorts,
  { id, status }: StartedRun,
  waitSeconds: number,
  more?: { restarted_from: string },
): Promise<Answer> {
  const record = waitSeconds > 0 ? await service.untilEnded(ports, id, waitSeconds * 1000) : undefined;
  if (record && service.hasEnded(record))
    return { status: 200, body: schemas.wholeExecution(await service.readExecution(ports, id)) };
  const headers = { location: `/executions/${id}` };
  return { status: 202, headers, body: { execution_id: id, status: record?.status ?? status, ...more } };
}

const hookId = /^[a-z0-9][a-z0-9-]{0,62}$/;

export const hook = openRoute("POST /hooks/{id}", {
  summary: "Start a run by a webhook trigger; the sender signs with the trigger's key",
  params: z.object({ id: z.string().regex(hookId) }),
  answers: {
    200: { description: "it ended within the `wait` of the trigger", schema: WholeExecution },
    202: { description: "it runs; a repeated delivery answers the same run", schema: Started },
  },
  async serve(ports, { params, headers, bytes, sourceIp }) {
    const { id = "" } = params;
    const content = contentOf(bytes, headers["content-encoding"]);
    const flaw = content instanceof Error ? content : flawOf(headers["content-type"], content);
    const body = { body: bytes, ...(content instanceof Error ? {} : { content }) };
    const request = {
      id,
      headers: defined(headers) as Record<string, string>,
      ...body,
      from: sourceIp,
      ...(flaw && { flaw }),
    };
    const { execution, waitSeconds } = await service.receiveHook(ports, request);
    const record = await ports.executions.get(execution);
    return resultOf(ports, { id: execution, status: record?.status ?? "running" }, waitSeconds);
  },
});

function contentOf(bytes: Buffer, encoding: string | undefined): Buffer | service.Refused {
  try {
    return service.decompressBody(bytes, encoding);
  } catch (error) {
    if (error instanceof service.Refused) return error;
    throw error;
  }
}

/** Returns the error for a body that exceeds a limit; undefined for other bodies. */
function flawOf(contentType = "", bytes: Buffer): Unreadable | undefined {
  if (bytes.length > maxBytes) {
    const limit = `the body has ${bytes.length} bytes, at most ${maxBytes} are taken`;
    return new Unreadable(413, `${limit} - send less at once, or where it can be fetched`);
  }
  if (!/json/i.test(contentType)) return undefined;
  try {
    refuseLarge(bytes.toString("utf8"));
    return undefined;
  } catch (error) {
    if (error instanceof Unreadable) return error;
    throw error;
  }
}
