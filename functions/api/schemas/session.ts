import * as service from "@nova/service";
import { z } from "zod";

import { ExecutionStatus } from "./execution.ts";
import * as values from "./values.ts";
import { PublishedAnswer } from "./workflow.ts";

export const NodeId = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, "it has to start with a letter: letters, digits, _ and -");

/** A node as in a workflow file, with the same checks. */
const DraftNode = z.looseObject({
  id: NodeId,
  type: z.string().default("action").describe("absent: `action`"),
});

export const DraftEdge = z.strictObject({
  from: NodeId,
  to: NodeId,
  condition: z.union([z.string(), z.boolean(), z.number()]).optional(),
  max: z.int().min(1).optional().describe("of an edge that makes a loop: how often it is taken at most"),
});

export const MapId = NodeId.describe("the map that gets the node; absent: the draft gets it");

export const NodeRequest = DraftNode.describe(
  "a node as in a workflow file, such as `{id, executor, code}`; code and prompts as text",
);

export const EditRequest = z.strictObject({
  revision: z.int().min(1).optional().describe("revision that you read: 409 with the changes since"),
  operations: z
    .array(
      z.discriminatedUnion("op", [
        z.strictObject({ op: z.literal("add_node"), node: DraftNode, map: MapId.optional() }),
        z.strictObject({ op: z.literal("change_node"), id: NodeId, changes: z.looseObject({}) }),
        z.strictObject({ op: z.literal("remove_node"), id: NodeId }),
        DraftEdge.extend({ op: z.literal("add_edge") }),
        DraftEdge.extend({ op: z.literal("remove_edge") }),
        z.strictObject({ op: z.literal("change_settings"), changes: z.looseObject({}) }),
      ]),
    )
    .max(200)
    .describe("applied in order, all or none; null in `changes` removes a field; none: only the findings"),
});

export const NodeChanges = z.looseObject({}).describe("changed fields of the node; null removes one");

const longestDays = 365;

const layout = z
  .record(NodeId, z.strictObject({ x: z.number(), y: z.number() }))
  .describe("positions of nodes that a person has moved");

/** A workflow file whose nodes may be incomplete. */
const DraftFile = z.looseObject({
  id: z.string().max(200).optional(),
  name: values.Name.optional(),
  nodes: z.array(DraftNode).max(500).optional(),
  edges: z.array(DraftEdge).max(2_000).optional(),
});

export const DraftRequest = z.strictObject({
  name: values.Name.optional(),
  context: values.OptionalExactObject.describe("initial context of every run"),
  settings: z.looseObject({}).optional().describe("fields of the workflow without its nodes and edges"),
  nodes: z.array(DraftNode).max(500).optional().describe("all nodes; an equal one keeps its output"),
  edges: z.array(DraftEdge).max(2_000).optional().describe("all edges; their order is the order of branches"),
  layout: layout.optional(),
});

export const SessionRequest = z.strictObject({
  name: values.Name.optional(),
  client_slug: values.Slug.optional(),
  workflow: values.WorkflowId.optional().describe("the workflow from which the draft starts; absent: empty"),
  version: values.VersionNumber.optional().describe("of the workflow; absent: the active one"),
  context: values.OptionalExactObject.describe("initial context of every run of the draft"),
  retention_days: z.int().min(1).max(longestDays).optional().describe("days until the session ends; 30 by default"),
  nodes: z.array(DraftNode).max(500).optional(),
  edges: z.array(DraftEdge).max(2_000).optional(),
  definition: DraftFile.optional().describe("a workflow file, with which the draft starts"),
  files: z.record(z.string(), z.string()).optional().describe("texts of the files that it names"),
  run: values.ExecutionId.optional().describe(
    "a run: the session repeats one node of it with the context that the node had",
  ),
  place: z
    .string()
    .min(1)
    .max(2_000)
    .optional()
    .describe("the place in the run, as for a restart: `find`, `each[3].find`; absent: the node that failed the run"),
});

const Link = z.object({ execution_id: values.ExecutionId, scope: z.string(), seq: z.int() });
const Recorded = Link.extend({ node: z.string(), version: values.VersionNumber });
const Hand = z.object({ edited_by: z.string(), at: values.Time });

const Standing = z.object({
  node_id: z.string(),
  version: z.int().describe("increases with every change of the node, and every output"),
  state: z.enum(["fresh", "stale"]).describe("`fresh`: a run of everything would not change its output"),
  skipped: z.boolean().describe("no edge reaches it, given the decisions before it"),
  source: z.union([Link, Hand]).nullable().describe("origin of its output; null: it has none"),
  decision: z.string().nullable(),
});

/** Fields of every answer about a session. */
export const About = {
  session_id: values.SessionId,
  revision: z.int(),
  retention_days: z.int(),
  expires_at: values.Time,
};

export const SessionItem = values.named("SessionItem", {
  ...About,
  name: z.string(),
  client_slug: values.Slug,
  created_by: z.string(),
  created_at: values.Time,
});

export const WholeSession = SessionItem.extend({
  workflow: values.WorkflowId.nullable().describe("the workflow from which it was made, or as which it was published"),
  context: values.Context,
  settings: z.looseObject({}).describe("fields of the workflow without its nodes and edges"),
  shape: z.object({
    kind: z.enum(["graph", "line"]).describe("`line`: branches that do not nest run one after the other"),
    why: z.string().nullable(),
    order: z.array(z.string()),
    findings: z.array(values.Finding).describe("mistakes that prevent a run"),
  }),
  nodes: z.array(Standing.extend({ definition: z.looseObject({}) })),
  beside: z
    .array(Standing.pick({ node_id: true, version: true }).extend({ definition: z.looseObject({}) }))
    .describe("tools of agents, and fallbacks of code: nodes without edges and outputs"),
  inside: z
    .array(Standing.extend({ map: NodeId }))
    .describe("nodes in the bodies of maps, each with its map and its output for the first item"),
  edges: z.array(DraftEdge),
  files: z.record(z.string(), z.string()).describe("texts of the files of `lib/`"),
  layout,
  recorded: Recorded.nullable().describe(
    "the entry of the run from which it was made, and the version that the run had",
  ),
  running: z.array(values.ExecutionId).describe("open runs of the session"),
  changes: z.array(z.object({ revision: z.int(), at: values.Time, by: z.string(), what: z.string() })),
}).meta({ id: "Session" });

const Output = Standing.extend({
  output: values.Context.nullable().describe("keys that it set; numbers keep their digits"),
  error: z.string().nullable().describe("its error, if the run continued with `onError`"),
});

export const EditedSession = WholeSession.extend({
  findings: z.array(values.Finding).describe("everything that publishing the draft would report"),
}).meta({ id: "EditedSession" });

export const Outputs = values.named("SessionOutputs", { ...About, outputs: z.array(Output) });

export const SessionRun = values.named("SessionRun", {
  ...About,
  execution_id: values.ExecutionId.nullable().describe("null: all nodes were fresh"),
  status: ExecutionStatus,
  runs: z.array(z.string()).describe("nodes that run, in order"),
  reused: z.array(z.string()).describe("nodes whose outputs were reused"),
  ran: z.array(z.string()).describe("nodes of `runs` that have an output by now"),
  error: z.object({ node: z.string(), class: z.string(), message: z.string() }).nullable(),
  shape: z.enum(["graph", "line"]),
  shape_why: z.string().nullable(),
  outputs: z.array(Output).describe("outputs of `ran`"),
});

export const PublishedSession = PublishedAnswer.extend(About).meta({ id: "PublishedSession" });

export const CheckedPublication = values.named("CheckedPublication", {
  id: values.WorkflowId,
  valid: z.boolean(),
  findings: z.array(values.Finding.extend({ node: NodeId.optional().describe("the node at `path`") })),
});

export const OutputRequest = z.strictObject({
  output: values.ExactValue.describe("an object with keys of the context; another value if the node sets one key only"),
  decision: z.string().optional().describe("for a decision, the edge that it takes from now on"),
});

export const NodeRunRequest = z.strictObject({
  context_data: values.OptionalExactObject.describe(
    "`id:<node>`: outputs of other nodes, written by hand if they differ; `__node_mapping`, `__current_node`",
  ),
});

export function about({ id, revision, retentionDays, expiresAt }: service.SessionSummary) {
  return { session_id: id, revision, retention_days: retentionDays, expires_at: expiresAt };
}

export function sessionItem(session: service.SessionSummary) {
  return values.viewOf(SessionItem, session, { ...about(session), client_slug: session.client });
}

export function wholeSession(by: service.Principal, session: service.Session): z.output<typeof WholeSession> {
  const { draft, workflow = null, runs, changes, layout = {}, recorded = null } = session.state;
  const definitions = new Map(draft.nodes.map((node) => [node.id, node]));
  return {
    ...sessionItem(session),
    workflow,
    settings: service.redactSettings(by, draft.settings),
    shape: service.describeDraftGraph(session),
    edges: draft.edges,
    files: draft.files,
    layout,
    recorded: recorded && values.viewOf(Recorded, recorded, { execution_id: recorded.execution }),
    context: service.shownContextOf(session) as never,
    nodes: service.nodeViews(session).map((view) => ({ ...view, definition: definitions.get(view.node_id) ?? {} })),
    beside: service.viewNodesBeside(session),
    inside: service.viewNodesInside(session),
    running: runs.map(({ execution }) => execution),
    changes: changes.map(({ revision, at, by, what }) => ({ revision, at, by, what })),
  };
}

const CodeFinding = values.Finding.omit({ file: true });

export const CheckedNode = values.named("CheckedNode", {
  ...About,
  findings: z.array(CodeFinding).describe("mistakes in the node; `path` is within it: `$.code`"),
  keys: z
    .array(z.string())
    .nullable()
    .describe("keys of the context that it gets; null while a node before it has no output"),
  earlier: z.array(z.object({ id: z.string(), name: z.string() })).describe("nodes before it"),
  prompt: z
    .object({
      text: z.string(),
      references: z.array(z.object({ reference: z.string(), value: z.string().nullable() })),
    })
    .nullable()
    .describe("the prompt of a text node as the model would get it, secrets masked"),
});

export function outputsAnswer(session: service.Session, outputs: service.OutputView[]) {
  return { ...about(session), outputs };
}
