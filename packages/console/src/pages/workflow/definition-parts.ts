import type { Schemas } from "@nova/client";
import { rawOf } from "../../json/answer.ts";
import { elementsOf, kindOf, memberOf, membersOf, Raw, textIn } from "../../json/raw.ts";
import { type Graph, graphOf } from "../../parts/graph/definition.ts";

/** What is in a definition. */
export interface Parts {
  /** JSON. */
  text: string;
  graph: Graph;
  nodes: ReadonlyMap<string, NodeText>;
}

export function partsOf(text: string): Parts {
  return { text, graph: graphOf(new Raw(text)), nodes: nodesIn(text) };
}

/** A node of a definition as the API answers it, without what is inside of it. */
export interface NodeText {
  id: string;
  type: string;
  /** Of Python, or of the sentence that a model is asked. */
  code: string | undefined;
  prompt: string | undefined;
  /** JSON by name, without those above. */
  settings: ReadonlyMap<string, string>;
}

/** Every node by its id, those of maps as well. */
export function nodesIn(body: string): Map<string, NodeText> {
  const found = new Map<string, NodeText>();
  for (const text of elementsOf(memberOf(body, "nodes") ?? "[]")) {
    const node = nodeFrom(text);
    found.set(node.id, node);
    const inside = memberOf(text, "body");
    if (inside !== undefined) for (const [id, one] of nodesIn(inside)) found.set(id, one);
  }
  return found;
}

const own = new Set(["id", "type", "body"]);

function nodeFrom(text: string): NodeText {
  const settings = new Map<string, string>();
  let [code, prompt]: (string | undefined)[] = [];
  for (const { key, text: value } of membersOf(text)) {
    if (own.has(key)) continue;
    if (key !== "executor" || kindOf(value) !== "object") {
      settings.set(key, value);
      continue;
    }
    code = textIn(memberOf(value, "code"));
    prompt = textIn(memberOf(value, "prompt"));
    for (const one of membersOf(value)) {
      if (!["kind", "code", "prompt"].includes(one.key)) settings.set(one.key, one.text);
    }
  }
  const [id, type] = ["id", "type"].map((name) => textIn(memberOf(text, name)) ?? "");
  return { id: id as string, type: type as string, code, prompt, settings };
}

/** The members of a definition besides its nodes and edges. */
export function settingsIn(definition: string): Map<string, string> {
  const members = membersOf(definition).filter(({ key }) => key !== "nodes" && key !== "edges");
  return new Map(members.map(({ key, text }) => [key, text]));
}

export interface Trigger {
  id: string;
  type: string;
  /** JSON of its other fields. */
  fields: ReadonlyMap<string, string>;
}

/** The triggers of a definition. */
export function triggersIn({ definition }: Pick<Schemas["WholeWorkflow"], "definition">): Trigger[] {
  return elementsOf(memberOf(rawOf(definition).text, "triggers") ?? "[]").map((text) => {
    const fields = new Map(membersOf(text).map(({ key, text: value }) => [key, value]));
    const [id = "", type = ""] = ["id", "type"].map((name) => textIn(fields.get(name)));
    fields.delete("id");
    fields.delete("type");
    return { id, type, fields };
  });
}
