import type { Session } from "@nova/client";
import { asRaw, findMember, listMembers, Raw, readKind, readMembers, readString } from "../../json/raw.ts";
import { createGraph, type Graph, type GraphNode } from "../../parts/graph/definition.ts";
import type { texts } from "../../texts.ts";
import { deriveSlug } from "../workflows/workflow-files.ts";
import { listIdsBeside, listNodesInside, listTools, readBody, readDoc } from "./draft-doc.ts";

export type SessionNode = Session["nodes"][number];

/**
 * Finds a node in the draft or in the body of a map. Also finds tools of agents and fallbacks of code, which have no
 * edges and no output.
 */
export function findSessionNode(session: Session, id: string | undefined): SessionNode | undefined {
  if (id === undefined) return undefined;
  const map = findMapAround(session, id);
  const { nodes, beside } = map === undefined ? session : readScope(session, map);
  const tool = beside.find(({ node_id }) => node_id === id);
  const standing = { state: "stale", skipped: false, source: null, decision: null } as const;
  return nodes.find(({ node_id }) => node_id === id) ?? (tool && { ...tool, ...standing });
}

/** Returns the id of the map whose body contains a node; undefined outside maps. */
function findMapAround({ inside }: Session, id: string): string | undefined {
  return inside.find(({ node_id }) => node_id === id)?.map;
}

/** Lists the ids of the maps that contain a map, outermost first, and of this map itself. */
export function listMapsTo(session: Session, map: string | undefined): string[] {
  return map === undefined ? [] : [...listMapsTo(session, findMapAround(session, map)), map];
}

/** Returns whether the node `id` is the node `other` or is inside the node `other`. */
export function isWithin(session: Session, id: string, other: string): boolean {
  return listMapsTo(session, id).includes(other);
}

/** A session whose nodes and edges are only those in the body of one map, or only those outside all maps. */
export interface Scope extends Session {
  /** The id of the map whose body contains the nodes; undefined outside all maps. */
  map: string | undefined;
  /** The ids of all nodes of the draft. */
  ids: readonly string[];
}

/** Reads the nodes and edges in the body of a map, or those outside all maps if the map was deleted. */
export function readScope(session: Session, map: string | undefined): Scope {
  const all = listNodesInside(readDoc(session).nodes);
  const ids = all.map(({ id }) => id);
  const body = map === undefined ? undefined : readBody(all.find(({ id }) => id === map)?.text ?? "{}");
  if (!body) return { ...session, map: undefined, ids };
  const standings = new Map(session.inside.map((one) => [one.node_id, one]));
  const besideIds = new Set(body.nodes.flatMap(({ text }) => listIdsBeside(text)));
  // Leaves out the end nodes of a body, because the session does not list them. The graph draws an end node if an edge
  // names this node.
  const nodes = body.nodes.flatMap(({ id, text }): SessionNode[] => {
    const standing = standings.get(id);
    return standing ? [{ ...standing, definition: new Raw(text) as never }] : [];
  });
  const isBeside = ({ node_id }: SessionNode) => besideIds.has(node_id);
  const [beside, steps] = [nodes.filter(isBeside), nodes.filter((node) => !isBeside(node))];
  return { ...session, nodes: steps, beside, edges: [...body.edges], map, ids };
}

export function readDefinition({ definition }: Pick<SessionNode, "definition">): string {
  return asRaw(definition).text;
}

/** Builds the graph of the draft. Start and end nodes are not in `nodes`: only edges mention them. */
export function buildDraftGraph({ nodes, edges }: Pick<Session, "nodes" | "edges">): Graph {
  const steps = nodes.map((node) => parseStep(node.node_id, readDefinition(node)));
  const stepIds = new Set(steps.map(({ id }) => id));
  const ends = new Set(edges.flatMap(({ from, to }) => [from, to]).filter((id) => !stepIds.has(id)));
  const leaving = new Set(edges.map(({ from }) => from));
  const bareNodes = Array.from(ends, (id) => createGraphNode(id, leaving.has(id) ? "start" : "end"));
  const labelledEdges = edges.map((edge) => {
    const { from, to, max } = edge;
    return { from, to, label: formatEdgeCondition(edge), max, isOnError: false };
  });
  return createGraph([...steps, ...bareNodes], labelledEdges);
}

export function formatEdgeCondition({ condition }: Session["edges"][number]): string {
  return condition === undefined ? "" : String(condition);
}

function parseStep(id: string, definition: string): GraphNode {
  const text = (name: string) => readString(findMember(definition, name));
  return {
    ...createGraphNode(id, text("type") ?? "action"),
    name: text("name") ?? id,
    description: text("description"),
    isPrompt: ["prompt", "text", "cached"].includes(text("executor") ?? ""),
    onError: text("onError"),
  };
}

function createGraphNode(id: string, type: string): GraphNode {
  const nothing = { description: undefined, onError: undefined, body: undefined, credentials: undefined };
  return { ...nothing, id, type, name: id, isPrompt: false };
}

export type NodeFreshness = ReturnType<typeof classifyNode>;

export function classifyNode({ state, skipped }: Pick<SessionNode, "state" | "skipped">) {
  return skipped ? "skipped" : state;
}

export function countStates(nodes: readonly Pick<SessionNode, "state">[]): { fresh: number; stale: number } {
  const fresh = nodes.filter(({ state }) => state === "fresh").length;
  return { fresh, stale: nodes.length - fresh };
}

const longestLine = 120;

/**
 * Summarizes an output: returns the value of its only key, or else the whole output. Of a text, returns the first line.
 */
export function summarizeOutput(output: string): string {
  const [only, ...others] = listMembers(output, 2);
  const json = only && others.length === 0 ? only.text : output;
  const line = readKind(json) === "text" ? (JSON.parse(json) as string).trim().split("\n", 1)[0] : json;
  return (line ?? "").slice(0, longestLine);
}

/** Returns the key and text of an output that consists of one text. */
export function findOnlyText(output: string): { key: string; text: string } | undefined {
  const [only, ...others] = listMembers(output, 2);
  const text = readString(only?.text);
  return only === undefined || others.length > 0 || text === undefined ? undefined : { key: only.key, text };
}

/** Returns the field of a definition that people edit as text; undefined for a node without code and prompt. */
export function findTextField(definition: string): "code" | "prompt" | undefined {
  if (readString(findMember(definition, "code")) !== undefined) return "code";
  return readString(findMember(definition, "prompt")) === undefined ? undefined : "prompt";
}

const modelExecutors = new Set(["prompt", "cached", "text", "agent"]);

/** Lists the changes of code and prompt that a node needs after a change of its executor; null removes a member. */
export function replaceText(definition: string, executor: string): [key: string, json: string | null][] {
  const members = readMembers(definition);
  const [own, other, start] = modelExecutors.has(executor) ? ["prompt", "code", ""] : ["code", "prompt", "\n"];
  const removed = [other, `${other}File`].filter((key) => members.has(key));
  const isThere = members.has(own) || members.has(`${own}File`);
  return [
    ...removed.map((key) => [key, null] as [string, null]),
    ...(isThere ? [] : [[own, JSON.stringify(start)] as [string, string]]),
  ];
}

/** Parses a typed condition: `true` and `false` are booleans. */
export function parseCondition(text: string): string | boolean | undefined {
  const condition = text.trim();
  if (condition === "true" || condition === "false") return condition === "true";
  return condition || undefined;
}

/** Returns whether an agent of the draft calls the node as a tool. */
export function isToolOfAgent({ nodes, beside }: Pick<Session, "nodes" | "beside">, id: string): boolean {
  return [...nodes, ...beside].some((node) => listTools(readDefinition(node)).includes(id));
}

type NewKind = keyof typeof texts.sessions.addNode.kinds;

interface NewNode {
  id: string;
  name: string;
  kind: NewKind;
  /** The workflow that a node of the kind `workflow` runs. */
  workflow: string;
  /** The tool that a node of the kind `agent` calls. */
  tool: string;
}

/** Creates a node with only the fields that its kind needs. */
export function createSessionNode({ id, name, kind, workflow, tool }: NewNode): { id: string } {
  const item = { id: `${id}_item`, type: "action", code: "pass\n" };
  const action = { type: "action", executor: kind, prompt: "" };
  const own: Record<NewKind, object> = {
    code: { type: "action", executor: "code", code: "\n" },
    text: action,
    prompt: action,
    agent: { ...action, tools: [tool] },
    decision: { type: "decision", executor: "code", code: 'context["branch_decision"] = True\n' },
    map: { type: "map", items: "items", as: "item", into: "results", nodes: [item], edges: [] },
    approval: { type: "approval", message: "Continue?", choices: ["approved", "rejected"] },
    wait: { type: "wait", seconds: 60 },
    workflow: { type: "workflow", workflow },
    end: { type: "end" },
  };
  return { id, ...(name !== id && kind !== "end" && { name }), ...own[kind] };
}

/** Creates a tool of an agent with only the fields that a tool needs. */
export function createTool(id: string) {
  const input_schema = { type: "object", properties: {} };
  return { id, text: JSON.stringify({ id, type: "action", code: "\n", description: "", input_schema }) };
}

/** Derives from a name an id that no other node has: `Read the mail` becomes `read_the_mail`. */
export function deriveNodeId(name: string, taken: readonly string[]): string {
  const plain = deriveSlug(name).replace(/^[-0-9]+/, "");
  const base = plain.replaceAll("-", "_").slice(0, 60) || "node";
  const numbers = Array.from({ length: taken.length + 1 }, (_, index) => (index === 0 ? base : `${base}_${index + 1}`));
  return numbers.find((one) => !taken.includes(one)) ?? base;
}
