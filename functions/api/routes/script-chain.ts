import * as service from "@nova/service";
import { defined } from "@nova/workflow";
import { route } from "../http/route.ts";
import * as schemas from "../schemas/script-chain.ts";
import { about } from "../schemas/session.ts";

/** The session that a front end names, or the default session of its key. */
async function sessionOf(ports: service.ServicePorts, by: service.Principal, named: string | undefined) {
  return named?.startsWith("ses_") ? named : service.findNamedSession(ports, by, named);
}

/** Routes of ScriptChain, whose front ends use a session of NOVA. */
export const generateTextNode = route("POST /generate_text_node", {
  summary: "Let a model write a text; with `__current_node` in `context_data` it becomes the output of that node",
  role: "editor",
  body: schemas.GenerateRequest,
  exact: ["context_data"],
  answers: { 200: { description: "the text", schema: schemas.GeneratedText } },
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
  body: schemas.AddNodeRequest,
  answers: { 200: { description: "added", schema: schemas.AddedNode } },
  async handle(ports, { by, body: { session_id, node_id, node_type, prompt_text: prompt, ...rest }, once }) {
    const id = await sessionOf(ports, by, session_id);
    const type = node_type !== undefined && /decision/i.test(node_type) ? "decision" : "action";
    const node = { id: node_id, type, executor: "text", on_missing: "mark", ...defined({ ...rest, prompt }) };
    await once(async () => void (await service.addNode(ports, by, id, node)));
    return { node_id, ...about(await service.readSession(ports, by, id)) };
  },
});

export const addEdgeAsBefore = route("POST /add_edge", {
  summary: "Add an edge to a session",
  role: "editor",
  body: schemas.AddEdgeRequest,
  answers: { 200: { description: "added", schema: schemas.AddedEdge } },
  async handle(ports, { by, body: { session_id, from_node: from, to_node: to, condition }, once }) {
    const id = await sessionOf(ports, by, session_id);
    await once(async () => void (await service.addEdge(ports, by, id, { from, to, ...defined({ condition }) }, {})));
    return { from_node: from, to_node: to, ...about(await service.readSession(ports, by, id)) };
  },
});

export const getNodeOutputs = route("POST /get_node_outputs", {
  summary: "Outputs of the nodes of a session, each as one value",
  role: "editor",
  body: schemas.OutputsRequest,
  answers: { 200: { description: "the outputs", schema: schemas.NodeOutputs } },
  async handle(ports, { by, body: { session_id, node_ids = [] } }) {
    const id = await sessionOf(ports, by, session_id);
    const session = await service.readSession(ports, by, id);
    return { outputs: await service.nodeValues(ports, session, node_ids), ...about(session) };
  },
});

export const validateTemplate = route("POST /validate_template", {
  summary: "A prompt with its references replaced by outputs of a session, and the references without a value",
  role: "editor",
  body: schemas.TemplateRequest,
  exact: ["context_data"],
  answers: { 200: { description: "the prompt", schema: schemas.ValidatedTemplate } },
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
  body: schemas.ExecuteRequest,
  exact: ["initial_inputs"],
  answers: { 200: { description: "the outputs of all nodes", schema: schemas.Executed } },
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
    const told = { execution_id, status: record?.status ?? "completed", reused, ran, error: record?.error ?? null };
    return { results: await service.nodeValues(ports, session, []), ...told, shape, shape_why, ...about(session) };
  },
});
