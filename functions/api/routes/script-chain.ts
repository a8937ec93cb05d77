import * as service from "@nova/service";
import { defined } from "@nova/workflow";
import { z } from "zod";
import { route } from "../http/route.ts";
import { ExecutionStatus } from "../schemas/execution.ts";
import { About, about, NodeId } from "../schemas/session.ts";
import { ExecutionId, Name, named, OptionalExactObject } from "../schemas/values.ts";

/**
 * Builds the schema of an optional field that may also be null, which front ends of ScriptChain send for absent fields.
 */
function optional<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? undefined);
}

const sessionName = /^(?:ses_[0-9A-HJKMNP-TV-Z]{26}|(?!ses_)[A-Za-z0-9][A-Za-z0-9_.:-]{0,63})$/;
const session = {
  session_id: optional(
    z
      .string()
      .regex(sessionName, "it has to be the id of a session, or a name of 1 to 64 letters, digits, _ . : and -"),
  ).describe(
    "the id of a session, or a name that you choose: a session of this key that NOVA makes at its first use. Absent: the key's default session",
  ),
};

const LlmConfig = z
  .strictObject({
    provider: optional(z.string()),
    model: optional(z.string()),
    temperature: optional(z.number()),
    max_tokens: optional(z.int()),
  })
  .transform(defined);

const longestPrompt = 1_000_000;
const Prompt = z.string().min(1).max(longestPrompt).describe("`{Node}`, `{Node[2]}`, `{Node.key}` are references");

const ContextData = OptionalExactObject.describe(
  "`id:<node>` and names with their values, `__node_mapping` from names to ids, `__current_node`",
);

const GenerateRequest = z.strictObject({
  ...session,
  prompt_text: Prompt,
  llm_config: optional(LlmConfig),
  context_data: ContextData,
  on_missing: optional(z.enum(["fail", "mark"])).describe(
    "a reference without a value: `mark` writes `[CONTEXT_ERROR: ...]` in its place and adds a warning, `fail` answers 422 and asks no model. Absent: the node's setting, otherwise `mark`",
  ),
});

const GeneratedText = named("GeneratedText", {
  ...About,
  generated_text: z.string(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  cost: z.number().describe("US dollars"),
  duration: z.number().describe("seconds"),
  warnings: z.array(z.string()).describe("a sentence for each reference without a value"),
});

const AddNodeRequest = z.strictObject({
  ...session,
  node_id: NodeId,
  node_type: optional(z.string().max(100)).describe("a type that contains `decision` chooses an edge"),
  name: optional(Name),
  prompt_text: optional(Prompt).describe(
    "absent: an input, whose output callers write, or a node whose prompt POST /generate_text_node sets",
  ),
  system: optional(Prompt),
  llm_config: optional(LlmConfig),
  input_keys: optional(z.unknown()).describe("as in a workflow file"),
  output_schema: optional(z.looseObject({})),
});

const AddedNode = named("AddedNode", { ...About, node_id: z.string() });

const AddEdgeRequest = z.strictObject({
  ...session,
  from_node: NodeId,
  to_node: NodeId,
  condition: optional(z.union([z.string(), z.boolean(), z.number()])),
});

const AddedEdge = named("AddedEdge", { ...About, from_node: z.string(), to_node: z.string() });

const OutputsRequest = z.strictObject({
  ...session,
  node_ids: optional(z.array(NodeId).max(500)).describe("absent: all"),
});

const Values = z.record(z.string(), z.unknown()).describe("by node; null: it has no output");

const NodeOutputs = named("NodeOutputs", { ...About, outputs: Values });

const TemplateRequest = z.strictObject({
  ...session,
  prompt_text: Prompt,
  context_data: ContextData,
});

const ValidatedTemplate = named("ValidatedTemplate", {
  ...About,
  valid: z.boolean(),
  processed_prompt: z.string(),
  processed_node_values: z.record(z.string(), z.string()),
  warnings: z.array(z.string()),
});

const ExecuteRequest = z.strictObject({
  ...session,
  initial_inputs: OptionalExactObject.describe("other values for keys of the initial context"),
});

const Executed = named("ExecutedSession", {
  ...About,
  results: Values,
  execution_id: ExecutionId.nullable(),
  status: ExecutionStatus,
  reused: z.array(z.string()),
  ran: z.array(z.string()),
  error: z.object({ node: z.string(), class: z.string(), message: z.string() }).nullable(),
  shape: z.enum(["graph", "line"]),
  shape_why: z.string().nullable(),
});

/** Returns the session that a front end names, or the default session of the API key. */
async function sessionOf(ports: service.ServicePorts, by: service.Principal, named: string | undefined) {
  return named?.startsWith("ses_") ? named : service.findNamedSession(ports, by, named);
}

/**
 * This route and the routes below are routes of ScriptChain, an earlier system. They let the front ends of ScriptChain
 * work on a session of NOVA.
 */
export const generateTextNode = route("POST /generate_text_node", {
  summary: "Let a model write a text; with `__current_node` in `context_data` it becomes the output of that node",
  role: "editor",
  body: GenerateRequest,
  exact: ["context_data"],
  answers: { 200: { description: "the text", schema: GeneratedText } },
  async handle(
    ports,
    { by, body: { session_id, prompt_text: prompt, llm_config: llmConfig, context_data, on_missing: onMissing }, once },
  ) {
    const id = await sessionOf(ports, by, session_id);
    const wish = { prompt, ...defined({ llmConfig, contextData: context_data?.text, onMissing }) };
    const generated = await once((ulid) => service.generateText(ports, by, id, { ulid, ...wish }));
    return { ...generated, ...about(await service.readSession(ports, by, id)) };
  },
});

export const addNodeAsBefore = route("POST /add_node", {
  summary: "Add a text node to a session",
  role: "editor",
  body: AddNodeRequest,
  answers: { 200: { description: "added", schema: AddedNode } },
  async handle(ports, { by, body: { session_id, node_id, node_type, prompt_text: prompt, ...rest }, once }) {
    const id = await sessionOf(ports, by, session_id);
    const type = node_type !== undefined && /decision/i.test(node_type) ? "decision" : "action";
    const node = { id: node_id, type, executor: "text", on_missing: "mark", ...defined({ ...rest, prompt }) };
    await once(async () => void (await service.applyToDraft(ports, by, id, { op: "add_node", node })));
    return { node_id, ...about(await service.readSession(ports, by, id)) };
  },
});

export const addEdgeAsBefore = route("POST /add_edge", {
  summary: "Add an edge to a session",
  role: "editor",
  body: AddEdgeRequest,
  answers: { 200: { description: "added", schema: AddedEdge } },
  async handle(ports, { by, body: { session_id, from_node: from, to_node: to, condition }, once }) {
    const id = await sessionOf(ports, by, session_id);
    const operation = { op: "add_edge" as const, from, to, ...defined({ condition }) };
    await once(async () => void (await service.applyToDraft(ports, by, id, operation)));
    return { from_node: from, to_node: to, ...about(await service.readSession(ports, by, id)) };
  },
});

export const getNodeOutputs = route("POST /get_node_outputs", {
  summary: "Outputs of the nodes of a session, each as one value",
  role: "editor",
  body: OutputsRequest,
  answers: { 200: { description: "the outputs", schema: NodeOutputs } },
  async handle(ports, { by, body: { session_id, node_ids = [] } }) {
    const id = await sessionOf(ports, by, session_id);
    const session = await service.readSession(ports, by, id);
    return { outputs: await service.nodeValues(ports, session, node_ids), ...about(session) };
  },
});

export const validateTemplate = route("POST /validate_template", {
  summary: "A prompt with its references replaced by outputs of a session, and the references without a value",
  role: "editor",
  body: TemplateRequest,
  exact: ["context_data"],
  answers: { 200: { description: "the prompt", schema: ValidatedTemplate } },
  async handle(ports, { by, body: { session_id, prompt_text: template, context_data } }) {
    const id = await sessionOf(ports, by, session_id);
    const request = { template, ...defined({ contextData: context_data?.text }) };
    const { session, rendered } = await service.renderTemplate(ports, by, id, request);
    const { processed_prompt, processed_node_values, missing } = rendered;
    const warnings = missing.map(({ reference, name, has_node }) =>
      has_node ? `${reference}: "${name}" has no such part` : `${reference}: nothing is known of "${name}"`,
    );
    return { valid: missing.length === 0, processed_prompt, processed_node_values, warnings, ...about(session) };
  },
});

const waitMs = 25_000;

export const executeAsBefore = route("POST /execute", {
  summary: "Run the stale nodes of a session, in order",
  role: "editor",
  body: ExecuteRequest,
  exact: ["initial_inputs"],
  answers: { 200: { description: "the outputs of all nodes", schema: Executed } },
  async handle(ports, { by, body: { session_id, initial_inputs }, once }) {
    const id = await sessionOf(ports, by, session_id);
    const begun = await once(async (ulid) => {
      const inputs = defined({ inputs: initial_inputs?.text });
      const { execution, runs, reused } = await service.runStale(ports, by, id, { ulid, ...inputs });
      return { execution, runs, reused };
    });
    const { session, record, ran } = await service.readSessionRun(ports, by, id, begun, waitMs);
    const { execution: execution_id, reused } = begun;
    const { kind: shape, why: shape_why } = service.describeDraftGraph(session);
    const outcome = { execution_id, status: record?.status ?? "completed", reused, ran, error: record?.error ?? null };
    return { results: await service.nodeValues(ports, session, []), ...outcome, shape, shape_why, ...about(session) };
  },
});
