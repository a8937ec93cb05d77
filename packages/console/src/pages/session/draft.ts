import type { Session } from "@nova/client";
import {
  asRaw,
  findMember,
  formatJson,
  listMembers,
  parseObject,
  Raw,
  readKind,
  readMembers,
  readString,
} from "../../json/raw.ts";
import { createGraph, type Graph, type GraphNode } from "../../parts/graph/definition.ts";

export type SessionNode = Session["nodes"][number];

export function readDefinition({ definition }: SessionNode): string {
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
    const { from, to } = edge;
    return { from, to, label: formatEdgeCondition(edge), max: undefined, isOnError: false };
  });
  return createGraph([...steps, ...bareNodes], labelledEdges);
}

export function formatEdgeCondition({ condition }: Session["edges"][number]): string {
  return condition === undefined ? "" : String(condition);
}

function parseStep(id: string, definition: string): GraphNode {
  const text = (name: string) => readString(findMember(definition, name));
  const {
    name = id,
    description,
    onError,
    type = "action",
  } = Object.fromEntries(["name", "description", "onError", "type"].map((key) => [key, text(key)]));
  const executor = text("executor");
  const isPrompt = executor === "prompt" || executor === "text" || executor === "cached";
  return { ...createGraphNode(id, type), name, description, isPrompt, onError };
}

function createGraphNode(id: string, type: string): GraphNode {
  const nothing = { description: undefined, onError: undefined, body: undefined, credentials: undefined };
  return { ...nothing, id, type, name: id, isPrompt: false };
}

export type NodeFreshness = "fresh" | "stale" | "skipped";

export function classifyNode({ state, skipped }: Pick<SessionNode, "state" | "skipped">): NodeFreshness {
  return skipped ? "skipped" : state;
}

export function countStates(nodes: readonly Pick<SessionNode, "state">[]): { fresh: number; stale: number } {
  const fresh = nodes.filter(({ state }) => state === "fresh").length;
  return { fresh, stale: nodes.length - fresh };
}

const longestLine = 120;

/** Returns the start of an output: the value of its only key, or all of it. A text is cut to its first line. */
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

const fieldNames = ["name", "prompt", "system", "model", "code"] as const;
export type FieldName = (typeof fieldNames)[number] | "rest";

/** The fields of the form. `rest` contains all other members as JSON. */
export type Fields = Record<FieldName, string>;

/** Reads the fields of a definition. A member that is no text, such as a model object, is in `rest`. */
export function readNodeFields(definition: string): Fields {
  const members = listMembers(definition);
  const fields: Fields = { name: "", prompt: "", system: "", model: "", code: "", rest: "" };
  const otherMembers: string[] = [];
  for (const { key, text } of members) {
    if (key === "id") continue;
    const field = fieldNames.find((name) => name === key);
    const value = readString(text);
    if (field && value !== undefined) fields[field] = value;
    else otherMembers.push(`${JSON.stringify(key)}:${text}`);
  }
  return { ...fields, rest: formatJson(`{${otherMembers.join(",")}}`) };
}

const executorFields: Record<string, string[]> = {
  text: ["prompt", "system", "model"],
  prompt: ["prompt", "model"],
  cached: ["prompt", "model"],
};

/** Lists the fields that this kind of node uses, and any other field that has a value. */
export function listShownFields(definition: string): FieldName[] {
  const [type = "action", executor = "code"] = ["type", "executor"].map((name) =>
    readString(findMember(definition, name)),
  );
  const fields = readNodeFields(definition);
  const runs = type === "action" || type === "decision" || type === "ActionNode" || type === "DecisionNode";
  const kindFields = runs ? (executorFields[executor] ?? ["code"]) : [];
  return [...fieldNames.filter((name) => name === "name" || kindFields.includes(name) || fields[name] !== ""), "rest"];
}

/** Unsaved input by field, with the definition and the version of the node when the user began to type. */
export interface NodeEdit {
  fields: Partial<Fields>;
  base: Fields;
  version: number;
}

/** Compares input with the definition; null removes a member. Returns undefined if `rest` is no JSON object. */
export function diffFields(typed: NodeEdit["fields"], before: Fields): Record<string, unknown> | undefined {
  const changes: Record<string, unknown> = {};
  for (const name of fieldNames) {
    const text = typed[name];
    if (text !== undefined && text !== before[name]) changes[name] = text === "" ? null : text;
  }
  if (typed.rest === undefined) return changes;
  const otherMembers = parseObject(typed.rest);
  if (otherMembers === undefined) return undefined;
  const [beforeRest, afterRest] = [readMembers(before.rest), readMembers(otherMembers.text)];
  for (const key of beforeRest.keys()) if (!afterRest.has(key)) changes[key] = null;
  for (const [key, text] of afterRest) {
    if (formatJson(text) !== formatJson(beforeRest.get(key) ?? "")) changes[key] = new Raw(text);
  }
  return changes;
}

/** Lists edited fields that another user has changed since the edit began. */
export function findConflicts({ fields, base }: NodeEdit, now: Fields): FieldName[] {
  return ([...fieldNames, "rest"] as const).filter((name) => fields[name] !== undefined && base[name] !== now[name]);
}

/**
 * Chooses the version to send with a change: the current version if the definition is unchanged, because then only a
 * new output has raised the version.
 */
export function chooseBaseVersion({ base, version }: NodeEdit, now: Fields, versionNow: number): number {
  return JSON.stringify(base) === JSON.stringify(now) ? versionNow : version;
}

/** Parses a typed condition: `true` and `false` are booleans. */
export function parseCondition(text: string): string | boolean | undefined {
  const condition = text.trim();
  if (condition === "true" || condition === "false") return condition === "true";
  return condition || undefined;
}

export function createSessionNode(id: string, kind: "code" | "text" | "prompt" | "decision"): { id: string } {
  if (kind === "decision") return { id, type: "decision", executor: "code" } as { id: string };
  return { id, type: "action", executor: kind } as { id: string };
}

/** Adds input to an edit. Returns undefined if no field differs from the definition any more. */
export function applyEdit(typed: NodeEdit | undefined, now: Fields, version: number, change: Partial<Fields>) {
  const fields = { ...typed?.fields, ...change };
  const { base, version: read } = typed ?? { base: now, version };
  const isSame = Object.entries(fields).every(([name, text]) => text === now[name as FieldName]);
  return isSame ? undefined : { fields, base, version: read };
}
