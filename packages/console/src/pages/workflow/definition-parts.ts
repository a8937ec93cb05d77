import type { Schemas } from "@nova/client";
import { asRaw, findMember, listElements, listMembers, Raw, readKind, readString } from "../../json/raw.ts";
import { type Graph, parseGraph } from "../../parts/graph/definition.ts";

/** A parsed definition. */
export interface ParsedDefinition {
  /** JSON. */
  text: string;
  graph: Graph;
  nodes: ReadonlyMap<string, NodeText>;
}

export function parseDefinition(text: string): ParsedDefinition {
  return { text, graph: parseGraph(new Raw(text)), nodes: parseNodes(text) };
}

/** A node of a definition without its body. */
export interface NodeText {
  id: string;
  type: string;
  /** The Python code, or the prompt. */
  code: string | undefined;
  prompt: string | undefined;
  /** All other members as JSON by name. */
  settings: ReadonlyMap<string, string>;
}

/** Parses all nodes by id, including nodes of maps. */
export function parseNodes(body: string): Map<string, NodeText> {
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
export function readSettings(definition: string): Map<string, string> {
  const members = listMembers(definition).filter(({ key }) => key !== "nodes" && key !== "edges");
  return new Map(members.map(({ key, text }) => [key, text]));
}

export interface Trigger {
  id: string;
  type: string;
  /** Its other members as JSON. */
  fields: ReadonlyMap<string, string>;
}

/** Parses the triggers of a definition. */
export function parseTriggers({ definition }: Pick<Schemas["WholeWorkflow"], "definition">): Trigger[] {
  return listElements(findMember(asRaw(definition).text, "triggers") ?? "[]").map((text) => {
    const fields = new Map(listMembers(text).map(({ key, text: value }) => [key, value]));
    const [id = "", type = ""] = ["id", "type"].map((name) => readString(fields.get(name)));
    fields.delete("id");
    fields.delete("type");
    return { id, type, fields };
  });
}
