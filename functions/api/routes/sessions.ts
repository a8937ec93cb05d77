import * as service from "@nova/service";
import { defined } from "@nova/workflow";
import { z } from "zod";
import { type Asked, OtherAnswer, route } from "../http/route.ts";
import { listRoute } from "../schemas/list.ts";
import * as schemas from "../schemas/session.ts";
import { longestWaitSeconds, Name, SessionId, Slug, WorkflowId, waitQueryOf, wholeNumber } from "../schemas/values.ts";
import * as workflows from "../schemas/workflow.ts";

const role = "editor";
const params = z.object({ id: SessionId });
const nodeParams = z.object({ id: SessionId, node: schemas.NodeId });
const whole = { 200: { description: "the session", schema: schemas.WholeSession } };

const expected = z.strictObject({
  version: wholeNumber(1, 1_000_000_000)
    .optional()
    .describe("version of the node that you read: 409 with the change if it changed since"),
});
const expectedRevision = {
  revision: wholeNumber(1, 1_000_000_000).optional().describe("revision that you read"),
};

async function shown(ports: service.ServicePorts, by: service.Principal, id: string) {
  return schemas.wholeSession(by, await service.readSession(ports, by, id));
}

/** Applies an operation to a draft, once for each `Idempotency-Key`, and returns the session. */
async function applied(
  ports: service.ServicePorts,
  { by, once }: Pick<Asked<unknown, unknown, unknown>, "by" | "once">,
  id: string,
  operation: service.DraftOperation,
  expected: Parameters<typeof service.applyToDraft>[4] = {},
) {
  await once(async () => void (await service.applyToDraft(ports, by, id, operation, expected)));
  return shown(ports, by, id);
}

export const create = route("POST /sessions", {
  summary: "Create a session: a draft, empty or from a workflow, whose nodes you run and change step by step",
  role,
  body: schemas.SessionRequest,
  bodyMayBeAbsent: true,
  exact: ["context"],
  answers: { 201: { description: "the session", schema: schemas.WholeSession } },
  async handle(ports, { by, body, once }) {
    const { client_slug: client, retention_days: retentionDays, context, definition: file, run, place, ...rest } = body;
    const ofRun = run === undefined ? undefined : { run, ...defined({ place }) };
    const given = defined({ client, retentionDays, context: context?.text, file, run: ofRun });
    const request = { ...rest, ...given } as const;
    const id = await once(async (ulid) => (await service.createSession(ports, by, { ulid, ...request })).id);
    return shown(ports, by, id);
  },
});

export const list = listRoute("/sessions", {
  summary: "Sessions, newest first",
  role,
  query: { client: Slug.optional() },
  item: schemas.SessionItem,
  cursor: /^ses_[0-9A-Z]{26}$/,
  list: (ports, { by, query, page }) => service.listSessions(ports, by, { ...page, ...query }),
  show: schemas.sessionItem,
});

export const get = route("GET /sessions/{id}", {
  summary: "A session: its draft, and the state of each node",
  role,
  params,
  answers: whole,
  handle: (ports, { by, params: { id } }) => shown(ports, by, id),
});

export const remove = route("DELETE /sessions/{id}", {
  summary: "Delete a session with its drafts; its runs stay",
  role,
  params,
  answers: { 204: { description: "deleted" } },
  handle: (ports, { by, params: { id } }) => service.deleteSession(ports, by, id),
});

export const change = route("PATCH /sessions/{id}", {
  summary: "Replace parts of the draft, its name or its context; unchanged nodes keep their outputs",
  role,
  params,
  query: z.strictObject(expectedRevision),
  body: schemas.DraftRequest,
  exact: ["context"],
  answers: whole,
  async handle(ports, { by, params: { id }, query, body: { context, ...parts } }) {
    const wish = { ...query, ...parts, ...defined({ context: context?.text }) };
    return schemas.wholeSession(by, await service.changeDraft(ports, by, id, wish as service.DraftChange));
  },
});

export const check = route("GET /sessions/{id}/nodes/{node}/check", {
  summary: "Check a node with the context that it would get, and fill its prompt; runs nothing",
  role,
  params: nodeParams,
  answers: { 200: { description: "the findings", schema: schemas.CheckedNode } },
  async handle(ports, { by, params: { id, node } }) {
    const { session, findings, keys, earlier, prompt } = await service.checkNode(ports, by, id, node);
    const own = findings.map(({ file: _, ...finding }) => finding);
    return { ...schemas.about(session), findings: own, keys, earlier, prompt };
  },
});

export const addNodeRoute = route("POST /sessions/{id}/nodes", {
  summary: "Add a node to the draft, or to the nodes of a map",
  role,
  params,
  query: z.strictObject({ map: schemas.MapId.optional() }),
  body: schemas.NodeRequest,
  answers: { 201: { description: "the session", schema: schemas.WholeSession } },
  handle: (ports, { params: { id }, query: { map }, body: node, ...asked }) =>
    applied(ports, asked, id, { op: "add_node", node, ...defined({ map }) }),
});

export const changeNodeRoute = route("PATCH /sessions/{id}/nodes/{node}", {
  summary: "Change fields of a node, also inside a map, which makes it and its descendants stale",
  role,
  params: nodeParams,
  query: expected,
  body: schemas.NodeChanges,
  answers: whole,
  handle: (ports, { params: { id, node }, query, body: changes, ...asked }) =>
    applied(ports, asked, id, { op: "change_node", id: node, changes }, query),
});

export const deleteNodeRoute = route("DELETE /sessions/{id}/nodes/{node}", {
  summary: "Delete a node with its edges",
  role,
  params: nodeParams,
  query: expected,
  answers: whole,
  handle: (ports, { params: { id, node }, query, ...asked }) =>
    applied(ports, asked, id, { op: "remove_node", id: node }, query),
});

export const addEdgeRoute = route("POST /sessions/{id}/edges", {
  summary: "Add an edge",
  role,
  params,
  query: z.strictObject(expectedRevision),
  body: schemas.DraftEdge,
  answers: { 201: { description: "the session", schema: schemas.WholeSession } },
  handle: (ports, { params: { id }, query, body, ...asked }) =>
    applied(ports, asked, id, { op: "add_edge", ...body }, query),
});

export const deleteEdgeRoute = route("DELETE /sessions/{id}/edges", {
  summary: "Delete the edges between two nodes, or the one with this condition",
  role,
  params,
  query: z.strictObject({
    from: schemas.NodeId,
    to: schemas.NodeId,
    ...expectedRevision,
    condition: z.string().optional().describe("`true` and `false` are the booleans"),
  }),
  answers: whole,
  handle: (ports, { params: { id }, query: { from, to, condition, ...expected }, ...asked }) =>
    applied(ports, asked, id, { op: "remove_edge", from, to, ...defined({ condition }) }, expected),
});

export const edit = route("POST /sessions/{id}/edits", {
  summary: "Apply several changes to the draft, all or none, and find its mistakes",
  role,
  params,
  body: schemas.EditRequest,
  answers: { 200: { description: "the session, with its findings", schema: schemas.EditedSession } },
  async handle(ports, { by, params: { id }, body: { operations, ...expected }, once }) {
    if (operations.length > 0) {
      const wanted = operations as readonly service.DraftOperation[];
      await once(async () => void (await service.editDraft(ports, by, id, wanted, expected)));
    }
    const session = await service.readSession(ports, by, id);
    return { ...schemas.wholeSession(by, session), findings: await service.findDraftProblems(ports, by, session) };
  },
});

export const outputs = route("GET /sessions/{id}/outputs", {
  summary: "Outputs of the named nodes (ids separated by commas), or of all",
  role,
  params,
  query: z.strictObject({ node: z.string().min(1).max(8_000).optional() }),
  answers: { 200: { description: "the outputs", schema: schemas.Outputs } },
  async handle(ports, { by, params: { id }, query: { node } }) {
    const session = await service.readSession(ports, by, id);
    return schemas.outputsAnswer(session, await service.sessionOutputs(ports, session, node?.split(",") ?? []));
  },
});

export const writeOutput = route("PUT /sessions/{id}/nodes/{node}/output", {
  summary: "Write the output of a node by hand, which raises its version and makes its descendants stale",
  role,
  params: nodeParams,
  query: expected,
  body: schemas.OutputRequest,
  exact: ["output"],
  answers: { 200: { description: "the output", schema: schemas.Outputs } },
  async handle(ports, { by, params: { id, node }, query, body: { output, decision } }) {
    const session = await service.editOutput(ports, by, id, node, {
      ...query,
      output: output.text,
      ...defined({ decision }),
    });
    return schemas.outputsAnswer(session, await service.sessionOutputs(ports, session, [node]));
  },
});

const waitQuery = waitQueryOf("seconds; absent: 25");
const runAnswers = {
  200: { description: "it ended in time, or nothing was stale", schema: schemas.SessionRun },
  202: { description: "it continues, or waits for a slot (`queued`)", schema: schemas.SessionRun },
};

type Kept = Omit<service.StartedRun, "session" | "before">;
const kept = ({ execution, runs, reused }: service.StartedRun): Kept => ({ execution, runs, reused });

/** Answers with the result of a run. If the run takes longer than `waitSeconds`, answers with its current state. */
async function answerTo(
  ports: service.ServicePorts,
  by: service.Principal,
  id: string,
  begun: Kept,
  waitSeconds = longestWaitSeconds,
) {
  const { session, record, outputs, ran } = await service.readSessionRun(ports, by, id, begun, waitSeconds * 1000);
  const { kind, why } = service.describeDraftGraph(session);
  const body = {
    ...schemas.about(session),
    execution_id: begun.execution,
    status: record?.status ?? "completed",
    runs: begun.runs,
    reused: begun.reused,
    ran,
    error: record?.error ?? null,
    shape: kind,
    shape_why: why,
    outputs,
  };
  const goesOn = record !== undefined && ["queued", "running", "waiting"].includes(record.status);
  return new OtherAnswer({ status: goesOn ? 202 : 200, body });
}

export const run = route("POST /sessions/{id}/run", {
  summary: "Run the stale nodes, in order; reuses the fresh ones",
  role,
  params,
  query: waitQuery,
  answers: runAnswers,
  async handle(ports, { by, params: { id }, query: { wait }, once }) {
    const begun = await once(async (ulid) => kept(await service.runStale(ports, by, id, { ulid })));
    return answerTo(ports, by, id, begun, wait);
  },
});

export const runNode = route("POST /sessions/{id}/nodes/{node}/run", {
  summary:
    "Run one node alone, on the latest outputs of the nodes before it; a node inside a map runs for the first item",
  role,
  params: nodeParams,
  query: waitQuery,
  body: schemas.NodeRunRequest,
  bodyMayBeAbsent: true,
  exact: ["context_data"],
  answers: runAnswers,
  async handle(ports, { by, params: { id, node }, query: { wait }, body: { context_data }, once }) {
    const data = defined({ contextData: context_data?.text });
    const begun = await once(async (ulid) => kept(await service.runAlone(ports, by, id, { ulid, node, ...data })));
    return answerTo(ports, by, id, begun, wait);
  },
});

export const publish = route("POST /sessions/{id}/publish", {
  summary: "Make the draft the next version of a workflow; needs a key for all clients",
  role,
  params,
  body: z.strictObject({
    workflow: WorkflowId.optional().describe("absent: that of the session, or a new one by its name"),
    name: Name.optional(),
    dry_run: z.boolean().optional().describe("only checks the workflow; publishes nothing"),
  }),
  bodyMayBeAbsent: true,
  answers: {
    200: {
      description: "it was the latest version already; with `dry_run` the findings",
      schema: z.union([schemas.PublishedSession, schemas.CheckedPublication]),
    },
    201: { description: "a new version, ready", schema: schemas.PublishedSession },
    202: {
      description: "a version, `publishing` until Step Functions has it, or `failed`",
      schema: schemas.PublishedSession,
    },
  },
  async handle(ports, { by, params: { id }, body: { dry_run, ...body }, once }) {
    if (dry_run) return service.checkPublication(ports, by, id, defined(body));
    const found = await once(async () => {
      const { session: _, ...published } = await service.publishSession(ports, by, id, body);
      return published;
    });
    const status = workflows.publishStatus(found);
    const session = await service.readSession(ports, by, id);
    return new OtherAnswer({ status, body: { ...workflows.publishedAnswer(found), ...schemas.about(session) } });
  },
});
