import { checkOutOfPlace } from "../authored/field-check.ts";
import { executorKind } from "../authored/kind.ts";
import { kindOf } from "../authored/kinds.ts";
import { defined } from "../defined.ts";
import { at, didYouMean, type Finding, finding } from "../findings/finding.ts";
import { defaultLabel } from "../graph/graph.ts";
import { isObject, type Loose } from "../json/exact.ts";
import type { AgentTool, Condition } from "../workflow.ts";
import { bodyOf, edgeName, type ReadBody, type ReadEdge, type ReadNode } from "./read.ts";

type ReadOne = (value: unknown, path: string) => ReadNode;

/** The choice with which a person lets a call of a tool run. */
const approved = "approved";

const mayBeTool: ReadonlySet<string> = new Set(["action", "approval", "workflow"]);

/**
 * Moves the tools of each agent from a body into the body of the agent, and reports tools that cannot be called.
 * `values` are the written nodes, in the order of `body.nodes`.
 */
export function gatherTools(body: ReadBody, values: readonly unknown[], read: ReadOne): ReadBody {
  const agents = body.nodes.flatMap((node, index) => {
    const value = values[index];
    return isAgent(value) ? [{ node, value }] : [];
  });
  const codes = body.nodes.flatMap((node, index) => {
    const value = values[index];
    return isObject(value) && typeof value.fallback === "string" ? [{ node, value, agent: value.fallback }] : [];
  });
  if (agents.length + codes.length === 0) return body;
  const gathering = new Gathering(body, values, read);
  const changed = new Map(agents.map(({ node, value }) => [node, gathering.agent(node, value)]));
  const fallbacks = new Set<string>();
  for (const code of codes) {
    const agent = agents.find(({ node }) => node.id === code.agent)?.node;
    const problem = fallbackProblem(body, code, agent, fallbacks);
    if (problem) changed.set(code.node, { ...code.node, findings: [...code.node.findings, problem] });
    else if (agent) changed.set(code.node, compiledAgent(code, changed.get(agent) ?? agent, body.edges));
    if (agent) fallbacks.add(code.agent);
  }
  const isBeside = (id = "") => gathering.owners.has(id) || fallbacks.has(id);
  return {
    ...body,
    nodes: body.nodes.filter(({ id }) => !isBeside(id)).map((node) => changed.get(node) ?? node),
    edges: body.edges.filter(({ from, to }) => !isBeside(from) && !isBeside(to)),
  };
}

interface Code {
  node: ReadNode;
  value: Loose;
  /** The id of the agent that is the fallback. */
  agent: string;
}

function fallbackProblem(
  { nodes }: ReadBody,
  { node, value, agent: id }: Code,
  agent: ReadNode | undefined,
  taken: ReadonlySet<string>,
): Finding | undefined {
  const path = at(node.path, "fallback");
  const name = `node "${node.id}"`;
  const known = nodes.flatMap((one) => one.id ?? []);
  if (!known.includes(id)) {
    const wayOut = didYouMean(id, known) || " - add the agent beside the code, or correct the id";
    return finding("NOVA456", path, `${name} has the unknown fallback "${id}"${wayOut}`);
  }
  if (!agent)
    return finding("NOVA456", path, `${name}: its fallback "${id}" is no agent - name the agent of its tools`);
  if (taken.has(id))
    return finding("NOVA456", path, `"${id}" is the fallback of another node already - copy it under another id`);
  if (node.kind?.type !== "action" || executorKind(value.executor) !== "code")
    return finding("NOVA456", path, `${name} has a fallback, which only an action with code may have - remove it`);
  return undefined;
}

const fieldsOfAgent = ["timeout", "effects", "retry", "credentials", "network", "isolation", "input_keys"] as const;

/** Builds the agent whose tools the code calls. The agent is at the place of the code, and has the id of the code. */
function compiledAgent({ node: code, value, agent: id }: Code, agent: ReadNode, edges: readonly ReadEdge[]): ReadNode {
  const findings = [...agent.findings, ...code.findings];
  const wayOut = `does nothing at code with a fallback - remove it, or write it at the agent "${id}" if agents take it`;
  findings.push(
    ...checkOutOfPlace("NOVA421", fieldsOfAgent, wayOut, [value, { name: `node "${code.id}"`, path: code.path }]),
  );
  for (const edge of edges.filter(({ from, to }) => from === id || to === id)) {
    const message = `${edgeName(edge)} touches "${id}", which is only the fallback of "${code.id}" - lead it to "${code.id}"`;
    findings.push(finding("NOVA456", edge.path, message));
  }
  if (agent.onError !== undefined) {
    const message = `the fallback "${id}" has onError - move it to "${code.id}"`;
    findings.push(finding("NOVA456", at(agent.path, "onError"), message));
  }
  const { kind, onError, python } = code;
  const outline = { path: agent.path, ...defined({ id: code.id, kind, onError, body: agent.body }), findings };
  const read = {
    ...outline,
    ...(python && { python: { ...python, node: { id: code.id ?? "", type: "agent" as const } } }),
  };
  if (code.node?.type !== "action" || code.node.executor.kind !== "code" || agent.node?.type !== "agent") return read;
  const { name, description, merge, executor } = code.node;
  const { code: text, file } = executor;
  const compiled = defined({ code: text, file, agent: id });
  const own = defined({ id: code.node.id, name, description, merge, onError });
  return { ...read, node: { ...agent.node, ...own, executor: { ...agent.node.executor, compiled } } };
}

function isAgent(value: unknown): value is Loose & { tools: unknown[] } {
  return isObject(value) && value.executor === "agent" && Array.isArray(value.tools);
}

class Gathering {
  /** Maps the id of a tool's node to the id of the agent that has this tool. */
  readonly owners = new Map<string, string>();
  readonly #body: ReadBody;
  readonly #written: ReadonlyMap<string, { node: ReadNode; value: Loose }>;
  readonly #read: ReadOne;

  constructor(body: ReadBody, values: readonly unknown[], read: ReadOne) {
    this.#body = body;
    this.#read = read;
    const named = body.nodes.flatMap((node, index) => {
      const value = values[index];
      return node.id !== undefined && isObject(value) ? [[node.id, { node, value }] as const] : [];
    });
    this.#written = new Map(named.reverse());
  }

  agent(agent: ReadNode, value: Loose & { tools: unknown[] }): ReadNode {
    const id = agent.id ?? "";
    const inside: { nodes: ReadNode[]; edges: ReadEdge[]; tools: AgentTool[] } = { nodes: [], edges: [], tools: [] };
    const findings = [...agent.findings];
    const end = `${id}_answered`;
    for (const [index, tool] of value.tools.entries()) {
      const path = at(agent.path, "tools", index);
      const found = isObject(tool) ? this.#workflow(tool, path) : this.#node(id, String(tool), path);
      findings.push(...found.findings);
      const { node } = found;
      if (node?.id === undefined) continue;
      const approval = found.approve === undefined ? undefined : this.#approval(node, found.approve);
      const leads = (from: string, to: string, condition: Condition) =>
        inside.edges.push({ path, from, to, condition, repeats: false, edge: { from, to, condition }, findings: [] });
      if (approval?.id !== undefined) {
        inside.nodes.push(approval);
        leads(approval.id, node.id, approved);
        leads(approval.id, end, defaultLabel);
      }
      if (node.node?.type === "approval") leads(node.id, end, defaultLabel);
      inside.nodes.push(node);
      inside.tools.push({ name: node.id, entry: approval?.id ?? node.id });
    }
    const kind = kindOf("end");
    if (inside.edges.length > 0) {
      const node = { id: end, type: "end" as const };
      inside.nodes.push({ path: agent.path, id: end, ...defined({ kind }), node, findings: [] });
    }
    const body: ReadBody = { path: agent.path, isWhole: true, nodes: inside.nodes, edges: inside.edges };
    const { node } = agent;
    if (node?.type !== "agent") return { ...agent, body, findings };
    const executor = { ...node.executor, tools: inside.tools };
    return { ...agent, body, node: { ...node, executor, body: bodyOf(body) }, findings };
  }

  #workflow({ workflow, version }: Loose, path: string): Found {
    if (typeof workflow !== "string") return { findings: [] };
    return { node: this.#read(defined({ id: workflow, type: "workflow", workflow, version }), path), findings: [] };
  }

  #node(agent: string, id: string, path: string): Found {
    const written = this.#written.get(id);
    if (!written) {
      const wayOut = didYouMean(id, [...this.#written.keys()]) || " - add the node beside the agent, or correct the id";
      return { findings: [finding("NOVA450", path, `the agent "${agent}" has the unknown tool "${id}"${wayOut}`)] };
    }
    const owner = this.owners.get(id);
    if (owner !== undefined) {
      const message = `"${id}" is a tool of "${owner}" already - list it once, or copy the node under another id`;
      return { findings: [finding("NOVA452", path, message)] };
    }
    const { node, value } = written;
    const type = node.kind?.type ?? "";
    const isAgent = value.executor === "agent" || value.fallback !== undefined;
    if (!mayBeTool.has(type) || isAgent) {
      const what = isAgent ? "an agent" : `of type ${type || "unknown"}`;
      const message = `"${id}" is ${what}, which cannot be a tool - a tool is code, a prompt, a text, an approval or a workflow`;
      return { findings: [finding("NOVA454", path, message)] };
    }
    this.owners.set(id, agent);
    const { onError: _, ...tool } = node;
    const findings = [...this.#misplaced(agent, id, node), ...undescribed(id, node.path, value)];
    return { node: tool, approve: value.approve, findings };
  }

  *#misplaced(agent: string, id: string, { path, onError }: ReadNode): Iterable<Finding> {
    for (const edge of this.#body.edges.filter(({ from, to }) => from === id || to === id)) {
      const message = `${edgeName(edge)} touches "${id}", a tool that only the agent "${agent}" starts - remove the edge`;
      yield finding("NOVA451", edge.path, message);
    }
    if (onError === undefined) return;
    const message = `the tool "${id}" has onError, but its errors go back to the model of "${agent}" - remove it`;
    yield finding("NOVA451", at(path, "onError"), message);
  }

  #approval({ id, path }: ReadNode, approve: unknown): ReadNode {
    const fields = isObject(approve) ? approve : {};
    return this.#read({ ...fields, id: `${id}_approval`, type: "approval" }, at(path, "approve"));
  }
}

interface Found {
  node?: ReadNode;
  /** The written field `approve` of the tool. */
  approve?: unknown;
  findings: Finding[];
}

function* undescribed(id: string, path: string, value: Loose): Iterable<Finding> {
  const lacking = ["description", "input_schema"].filter((field) => value[field] === undefined);
  if (lacking.length === 0) return;
  const message = `the tool "${id}" has no ${lacking.join(" and no ")}, from which the model learns how to call it - add ${lacking.length > 1 ? "both" : "it"}`;
  yield finding("NOVA453", path, message);
}
