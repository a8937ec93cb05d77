import {
  describeDraftGraph,
  nodeViews,
  type OutputView,
  type Session,
  type SessionSummary,
  shownContextOf,
} from "@nova/service";
import { z } from "zod";

import { ExecutionStatus } from "./execution.ts";
import {
  Context,
  ExactValue,
  ExecutionId,
  Finding,
  Name,
  OptionalExactObject,
  SessionId,
  Slug,
  Time,
  VersionNumber,
  viewOf,
  WorkflowId,
} from "./values.ts";
import { PublishedAnswer } from "./workflow.ts";

export const NodeId = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, "it has to start with a letter: letters, digits, _ and -");

/** A node as in a workflow file, with the same checks. */
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

export const NodeChanges = z.looseObject({}).meta({ description: "changed fields of the node; null removes one" });

const longestDays = 365;

export const SessionRequest = z.strictObject({
  name: Name.optional(),
  client_slug: Slug.optional(),
  workflow: WorkflowId.optional().meta({ description: "the workflow from which the draft starts; absent: empty" }),
  version: VersionNumber.optional().meta({ description: "of the workflow; absent: the active one" }),
  context: OptionalExactObject.meta({ description: "initial context of every run of the draft" }),
  retention_days: z
    .int()
    .min(1)
    .max(longestDays)
    .optional()
    .meta({ description: "days until the session ends; 30 by default" }),
  nodes: z.array(DraftNode).max(500).optional(),
  edges: z.array(DraftEdge).max(2_000).optional(),
});

const Link = z.object({ execution_id: ExecutionId, scope: z.string(), seq: z.int() });
const Hand = z.object({ edited_by: z.string(), at: Time });

const Standing = z.object({
  node_id: z.string(),
  version: z.int().meta({ description: "increases with every change of the node, and every output" }),
  state: z.enum(["fresh", "stale"]).meta({ description: "`fresh`: a run of everything would not change its output" }),
  skipped: z.boolean().meta({ description: "no edge reaches it, given the decisions before it" }),
  source: z.union([Link, Hand]).nullable().meta({ description: "origin of its output; null: it has none" }),
  decision: z.string().nullable(),
});

/** Fields of every answer about a session. */
export const About = { session_id: SessionId, revision: z.int(), retention_days: z.int(), expires_at: Time };

export const SessionItem = z
  .object({ ...About, name: z.string(), client_slug: Slug, created_by: z.string(), created_at: Time })
  .meta({ id: "SessionItem" });

export const WholeSession = SessionItem.extend({
  workflow: WorkflowId.nullable().meta({
    description: "the workflow from which it was made, or as which it was published",
  }),
  context: Context,
  settings: z.looseObject({}).meta({ description: "fields of the workflow without its nodes and edges" }),
  shape: z.object({
    kind: z.enum(["graph", "line"]).meta({ description: "`line`: branches that do not nest run one after the other" }),
    why: z.string().nullable(),
    order: z.array(z.string()),
    findings: z.array(Finding).meta({ description: "mistakes that prevent a run" }),
  }),
  nodes: z.array(Standing.extend({ definition: z.looseObject({}) })),
  edges: z.array(DraftEdge),
  running: z.array(ExecutionId).meta({ description: "open runs of the session" }),
  changes: z.array(z.object({ revision: z.int(), at: Time, by: z.string(), what: z.string() })),
}).meta({ id: "Session" });

const Output = Standing.extend({
  output: Context.nullable().meta({ description: "keys that it set; numbers keep their digits" }),
  error: z.string().nullable().meta({ description: "its error, if the run continued with `onError`" }),
});

export const Outputs = z.object({ ...About, outputs: z.array(Output) }).meta({ id: "SessionOutputs" });

export const SessionRun = z
  .object({
    ...About,
    execution_id: ExecutionId.nullable().meta({ description: "null: all nodes were fresh" }),
    status: ExecutionStatus,
    runs: z.array(z.string()).meta({ description: "nodes that run, in order" }),
    reused: z.array(z.string()).meta({ description: "nodes whose outputs were reused" }),
    ran: z.array(z.string()).meta({ description: "nodes of `runs` that have an output by now" }),
    error: z.object({ node: z.string(), class: z.string(), message: z.string() }).nullable(),
    shape: z.enum(["graph", "line"]),
    shape_why: z.string().nullable(),
    outputs: z.array(Output).meta({ description: "outputs of `ran`" }),
  })
  .meta({ id: "SessionRun" });

export const PublishedSession = PublishedAnswer.extend(About).meta({ id: "PublishedSession" });

export const OutputRequest = z.strictObject({
  output: ExactValue.meta({
    description: "an object with keys of the context; another value if the node sets one key only",
  }),
  decision: z.string().optional().meta({ description: "for a decision, the edge that it takes from now on" }),
});

export const NodeRunRequest = z.strictObject({
  context_data: OptionalExactObject.meta({
    description:
      "`id:<node>`: outputs of other nodes, written by hand if they differ; `__node_mapping`, `__current_node`",
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
    workflow,
    settings: draft.settings,
    shape: describeDraftGraph(session),
    edges: draft.edges,
    context: shownContextOf(session) as never,
    nodes: nodeViews(session).map((view) => ({ ...view, definition: definitions.get(view.node_id) ?? {} })),
    running: runs.map(({ execution }) => execution),
    changes: changes.map(({ revision, at, by, what }) => ({ revision, at, by, what })),
  };
}

export function outputsAnswer(session: Session, outputs: OutputView[]) {
  return { ...about(session), outputs };
}
