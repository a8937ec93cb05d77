import { elementsOf, kindOf, membersOf } from "../../json/raw.ts";

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

export function memberOf(text: string, name: string): string | undefined {
  return membersOf(text).find(({ key }) => key === name)?.text;
}

export function textIn(json: string | undefined): string | undefined {
  return json !== undefined && kindOf(json) === "text" ? JSON.parse(json) : undefined;
}
