import type { Schemas } from "@nova/client";
import {
  asRaw,
  findMember,
  formatJson,
  listElements,
  listMembers,
  Raw,
  readKind,
  readMembers,
  readString,
} from "../../json/raw.ts";
import { type Graph, type GraphEdge, type GraphNode, parseGraph } from "../../parts/graph/definition.ts";

export type ParsedDefinition = ReturnType<typeof parseDefinition>;

export function parseDefinition(text: string) {
  return { text, graph: parseGraph(new Raw(text)), nodes: parseNodes(text) };
}

/** A node of a definition, without the nodes inside it if it is a map. */
export interface NodeText {
  id: string;
  type: string;
  code: string | undefined;
  prompt: string | undefined;
  /** Members that are not fields of this interface, as JSON by name. */
  settings: ReadonlyMap<string, string>;
}

/** Parses all nodes by id, including nodes of maps. */
function parseNodes(body: string): Map<string, NodeText> {
  const nodes = new Map<string, NodeText>();
  for (const text of listElements(findMember(body, "nodes") ?? "[]")) {
    const node = parseNode(text);
    nodes.set(node.id, node);
    const inside = findMember(text, "body");
    if (inside !== undefined) for (const [id, one] of parseNodes(inside)) nodes.set(id, one);
  }
  return nodes;
}

const excludedMembers = new Set(["id", "type", "body"]);

function parseNode(text: string): NodeText {
  const settings = new Map<string, string>();
  let [code, prompt]: (string | undefined)[] = [];
  for (const { key, text: value } of listMembers(text)) {
    if (excludedMembers.has(key)) continue;
    if (key !== "executor" || readKind(value) !== "object") {
      settings.set(key, value);
      continue;
    }
    code = readString(findMember(value, "code"));
    prompt = readString(findMember(value, "prompt"));
    for (const one of listMembers(value)) {
      if (!["kind", "code", "prompt"].includes(one.key)) settings.set(one.key, one.text);
    }
  }
  const [id, type] = ["id", "type"].map((name) => readString(findMember(text, name)) ?? "");
  return { id: id as string, type: type as string, code, prompt, settings };
}

/** Returns the members of a definition except nodes and edges. */
function readSettings(definition: string): Map<string, string> {
  const members = readMembers(definition);
  members.delete("nodes");
  members.delete("edges");
  return members;
}

export type Trigger = ReturnType<typeof parseTriggers>[number];

/** Parses the triggers of a workflow. `fields` has all other members of a trigger, as JSON by name. */
export function parseTriggers({ definition }: Pick<Schemas["WholeWorkflow"], "definition">) {
  return listElements(findMember(asRaw(definition).text, "triggers") ?? "[]").map((text) => {
    const fields = readMembers(text);
    const [id = "", type = ""] = ["id", "type"].map((name) => readString(fields.get(name)));
    fields.delete("id");
    fields.delete("type");
    return { id, type, fields };
  });
}

export type Finding = Schemas["Finding"];

/** Groups findings by node; findings about the whole workflow have the key "". */
export function groupFindings(definition: string, findings: readonly Finding[]): Map<string, Finding[]> {
  return Map.groupBy(findings, ({ path }) => findNodeAt(definition, path) ?? "");
}

/**
 * Returns the id of the node at a JSON path such as `$.nodes[5].nodes[0].code`. For the path of an edge, returns the id
 * of the node from which the edge leads.
 */
export function findNodeAt(definition: string, path: string): string | undefined {
  let [body, id]: [string, string | undefined] = [definition, undefined];
  for (const [, list, index] of path.matchAll(/\.(nodes|edges)\[(\d{1,6})\]/g)) {
    const element = listElements(findMember(body, list as string) ?? "[]")[Number(index)];
    if (element === undefined) return id;
    if (list === "edges") return readString(findMember(element, "from"));
    id = readString(findMember(element, "id"));
    body = findMember(element, "body") ?? "{}";
  }
  return id;
}

export type Change = "added" | "removed" | "changed" | "same";

interface Sides {
  before: string;
  after: string;
}

export type WorkflowDiff = ReturnType<typeof diffWorkflows>;

/**
 * Compares two definitions node by node and edge by edge. The graph has the nodes and edges of both. Changes of edges
 * have the names that `formatEdgeName` returns.
 */
export function diffWorkflows(before: ParsedDefinition, after: ParsedDefinition) {
  const ids = new Set([...before.nodes.keys(), ...after.nodes.keys()]);
  const nodes = new Map(Array.from(ids, (id) => [id, diffNodes(before.nodes.get(id), after.nodes.get(id))]));
  const edges = new Map<string, Change>();
  const graph = uniteGraphs(before.graph, after.graph, edges);
  const [was, is] = [formatSettings(readSettings(before.text)), formatSettings(readSettings(after.text))];
  return { graph, nodes, edges, settings: compareTexts(was, is) };
}

export function formatEdgeName({ from, to, isOnError }: GraphEdge): string {
  return `${from}>${to}${isOnError ? "!" : ""}`;
}

function diffNodes(before: NodeText | undefined, after: NodeText | undefined) {
  const code = compareTexts(readCode(before), readCode(after));
  const settings = compareTexts(before && formatNodeSettings(before), after && formatNodeSettings(after));
  const own: Change = code || settings ? "changed" : "same";
  const change: Change = !before ? "added" : after ? own : "removed";
  return { change, code, settings };
}

function readCode(node: NodeText | undefined): string | undefined {
  return node && (node.code ?? node.prompt);
}

/** Lists the code or the prompt of each node by id. */
export function listNodeTexts(nodes: ReadonlyMap<string, NodeText>): Map<string, string> {
  return new Map(Array.from(nodes, ([id, node]) => [id, readCode(node) ?? ""]));
}

/** Compares the code and prompts of nodes by id. */
export function diffNodeTexts(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>) {
  const changed = Array.from(after, ([id, text]) => ({ id, before: before.get(id) ?? text, after: text }));
  return {
    changed: changed.filter((node) => node.before !== node.after),
    added: Array.from(new Set(after.keys()).difference(before)),
    removed: Array.from(new Set(before.keys()).difference(after)),
  };
}

/** Formats the settings of a node. The type includes "code", because code and prompt nodes share a type. */
function formatNodeSettings({ type, code, settings }: NodeText): string {
  const kind = code === undefined ? type : `${type}, code`;
  return formatSettings(new Map([["type", JSON.stringify(kind)], ...settings]));
}

function formatSettings(settings: ReadonlyMap<string, string>): string {
  const sorted = Array.from(settings).sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.map(([name, text]) => `${name}: ${formatJson(sortMembers(text))}`).join("\n");
}

/** Sorts members, because their order has no meaning. */
function sortMembers(text: string): string {
  if (readKind(text) !== "object") return text;
  const members = listMembers(text).sort((a, b) => (a.key < b.key ? -1 : 1));
  return `{${members.map(({ key, text: value }) => `${JSON.stringify(key)}:${sortMembers(value)}`).join(",")}}`;
}

function compareTexts(before: string | undefined, after: string | undefined): Sides | undefined {
  return before === after ? undefined : { before: before ?? "", after: after ?? "" };
}

function uniteGraphs(before: Graph, after: Graph, changes: Map<string, Change>): Graph {
  const old = new Map(before.nodes.map((node) => [node.id, node]));
  const afterIds = new Set(after.nodes.map(({ id }) => id));
  const nodes = [
    ...after.nodes.map((node) => uniteNodes(old.get(node.id), node, changes)),
    ...before.nodes.filter(({ id }) => !afterIds.has(id)).map((node) => uniteNodes(node, undefined, changes)),
  ];
  return { nodes, edges: uniteEdges(before.edges, after.edges, changes) };
}

const empty: Graph = { nodes: [], edges: [] };

function uniteNodes(
  before: GraphNode | undefined,
  after: GraphNode | undefined,
  changes: Map<string, Change>,
): GraphNode {
  const hasBody = before?.body !== undefined || after?.body !== undefined;
  return {
    ...((after ?? before) as GraphNode),
    body: hasBody ? uniteGraphs(before?.body ?? empty, after?.body ?? empty, changes) : undefined,
  };
}

function uniteEdges(
  before: readonly GraphEdge[],
  after: readonly GraphEdge[],
  changes: Map<string, Change>,
): GraphEdge[] {
  const old = new Map(before.map((edge) => [formatEdgeName(edge), edge]));
  for (const edge of after) {
    const was = old.get(formatEdgeName(edge));
    const isSame = was !== undefined && was.label === edge.label && was.max === edge.max;
    changes.set(formatEdgeName(edge), was === undefined ? "added" : isSame ? "same" : "changed");
    old.delete(formatEdgeName(edge));
  }
  for (const name of old.keys()) changes.set(name, "removed");
  return [...after, ...old.values()];
}
