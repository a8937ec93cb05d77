import {
  describeDraftGraph,
  nodeViews,
  type OutputView,
  type Session,
  type SessionSummary,
  shownContextOf,
} from "@nova/service";
import { z } from "zod";
import { Finding } from "./deployment.ts";
import { ExecutionStatus } from "./execution.ts";
import {
  Context,
  ExactValue,
  ExecutionId,
  Name,
  OptionalExactObject,
  SessionId,
  Slug,
  Time,
  VersionNumber,
  WorkflowId,
} from "./values.ts";
import { viewOf } from "./view.ts";
import { PublishedAnswer } from "./workflow.ts";

export const NodeId = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, "it has to begin with a letter: letters, digits, _ and -");

/** A node as a workflow file writes it; what it may have is checked as there. */
const DraftNode = z.looseObject({
  id: NodeId,
  type: z.string().default("action").meta({ description: "absent: `action`" }),
});

export const DraftEdge = z.strictObject({
  from: NodeId,
  to: NodeId,
  condition: z.union([z.string(), z.boolean(), z.number()]).optional(),
});

export const NodeRequest = DraftNode.meta({
  description: "a node as in a workflow file, such as `{id, executor, code}`; code and prompts as text",
});

export const NodeChanges = z
  .looseObject({})
  .meta({ description: "fields of the node that are to be others; null takes one away" });

const longestDays = 365;

export const SessionRequest = z.strictObject({
  name: Name.optional(),
  client_slug: Slug.optional(),
  workflow: WorkflowId.optional().meta({ description: "the draft begins as this one; absent: empty" }),
  version: VersionNumber.optional().meta({ description: "of the workflow; absent: the active one" }),
  context: OptionalExactObject.meta({ description: "what every run of the draft begins with" }),
  retention_days: z
    .int()
    .min(1)
    .max(longestDays)
    .optional()
    .meta({ description: "the session ends so many days from now; 30" }),
  nodes: z.array(DraftNode).max(500).optional(),
  edges: z.array(DraftEdge).max(2_000).optional(),
});

const Link = z.object({ execution_id: ExecutionId, scope: z.string(), seq: z.int() });
const Hand = z.object({ edited_by: z.string(), at: Time });

const Standing = z.object({
  node_id: z.string(),
  version: z.int().meta({ description: "one more with every change of the node, and every output" }),
  state: z.enum(["fresh", "stale"]).meta({ description: "`fresh`: running everything again would change nothing" }),
  skipped: z.boolean().meta({ description: "no way leads to it, as the decisions before it stand" }),
  source: z.union([Link, Hand]).nullable().meta({ description: "where its output is from; null: it has none" }),
  decision: z.string().nullable(),
});

/** What every answer about a session says. */
export const About = { session_id: SessionId, revision: z.int(), retention_days: z.int(), expires_at: Time };

export const SessionItem = z
  .object({ ...About, name: z.string(), client_slug: Slug, created_by: z.string(), created_at: Time })
  .meta({ id: "SessionItem" });

export const WholeSession = SessionItem.extend({
  workflow: WorkflowId.nullable().meta({ description: "that it was made from, or published as" }),
  context: Context,
  settings: z.looseObject({}).meta({ description: "fields of the workflow besides its nodes and edges" }),
  shape: z.object({
    kind: z.enum(["graph", "line"]).meta({ description: "`line`: branches that do not nest run one after the other" }),
    why: z.string().nullable(),
    order: z.array(z.string()),
    findings: z.array(Finding).meta({ description: "what keeps it from running" }),
  }),
  nodes: z.array(Standing.extend({ definition: z.looseObject({}) })),
  edges: z.array(DraftEdge),
  running: z.array(ExecutionId).meta({ description: "executions of the session that go on" }),
  changes: z.array(z.object({ revision: z.int(), at: Time, by: z.string(), what: z.string() })),
}).meta({ id: "Session" });

const Output = Standing.extend({
  output: Context.nullable().meta({ description: "keys that it has set; numbers keep their digits" }),
  error: z.string().nullable().meta({ description: "what it failed with, where `onError` goes on" }),
});

export const Outputs = z.object({ ...About, outputs: z.array(Output) }).meta({ id: "SessionOutputs" });

export const SessionRun = z
  .object({
    ...About,
    execution_id: ExecutionId.nullable().meta({ description: "null: everything was fresh" }),
    status: ExecutionStatus,
    runs: z.array(z.string()).meta({ description: "nodes that it runs, in order" }),
    reused: z.array(z.string()).meta({ description: "nodes whose outputs it took over" }),
    ran: z.array(z.string()).meta({ description: "of `runs` those that have come to an output by now" }),
    error: z.object({ node: z.string(), class: z.string(), message: z.string() }).nullable(),
    shape: z.enum(["graph", "line"]),
    shape_why: z.string().nullable(),
    outputs: z.array(Output).meta({ description: "of `ran`" }),
  })
  .meta({ id: "SessionRun" });

export const PublishedSession = PublishedAnswer.extend(About).meta({ id: "PublishedSession" });

export const OutputRequest = z.strictObject({
  output: ExactValue.meta({
    description: "an object: keys of the context; another value where the node sets one key alone",
  }),
  decision: z.string().optional().meta({ description: "of a decision, the edge that it takes from now on" }),
});

export const NodeRunRequest = z.strictObject({
  context_data: OptionalExactObject.meta({
    description:
      "`id:<node>`: outputs of other nodes, written by hand where they differ; `__node_mapping`, `__current_node`",
  }),
});

export function about({ id, revision, retentionDays, expiresAt }: SessionSummary) {
  return { session_id: id, revision, retention_days: retentionDays, expires_at: expiresAt };
}

export function sessionItem(session: SessionSummary) {
  return viewOf(SessionItem, session, { ...about(session), client_slug: session.client });
}

export function wholeSession(session: Session): z.output<typeof WholeSession> {
  const { draft, workflow = null, runs, changes } = session.state;
  const definitions = new Map(draft.nodes.map((node) => [node.id, node]));
  return {
    ...sessionItem(session),
    ...{ workflow, settings: draft.settings, shape: describeDraftGraph(session), edges: draft.edges },
    context: shownContextOf(session) as never,
    nodes: nodeViews(session).map((view) => ({ ...view, definition: definitions.get(view.node_id) ?? {} })),
    running: runs.map(({ execution }) => execution),
    changes: changes.map(({ revision, at, by, what }) => ({ revision, at, by, what })),
  };
}

export function outputsAnswer(session: Session, outputs: OutputView[]) {
  return { ...about(session), outputs };
}
