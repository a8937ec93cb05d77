import type { ChainEntry, Task } from "@nova/client";
import { rawOf } from "../../json/answer.ts";
import { elementsOf, kindOf, membersOf, type Raw } from "../../json/raw.ts";

/** The paths that the message of an approval names, in their order, each once. */
export function namesIn(definition: Raw, node: string): string[] {
  const message = messageOf(JSON.parse(definition.text), node);
  const found = Array.from((message ?? "").matchAll(/\{\{\s*([^{}]+?)\s*\}\}/g), ([, path]) => path as string);
  return [...new Set(found)];
}

interface Body {
  nodes?: { id?: unknown; message?: unknown; body?: Body }[];
}

function messageOf({ nodes = [] }: Body, id: string): string | undefined {
  for (const node of nodes) {
    if (node.id === id) return typeof node.message === "string" ? node.message : undefined;
    const inside = node.body && messageOf(node.body, id);
    if (inside !== undefined) return inside;
  }
  return undefined;
}

/** The JSON at a dot path of a context; undefined where there is none. */
export function contextAt(context: Raw, path: string): string | undefined {
  return path
    .split(".")
    .reduce<string | undefined>((text, key) => (text === undefined ? undefined : memberOf(text, key)), context.text);
}

function memberOf(text: string, key: string): string | undefined {
  if (kindOf(text) === "list")
    return /^\d{1,6}$/.test(key) ? elementsOf(text, Number(key) + 1)[Number(key)] : undefined;
  return kindOf(text) === "object" ? membersOf(text).find((one) => one.key === key)?.text : undefined;
}

export interface Outcome {
  entry: ChainEntry;
  choice: string;
  by: string;
  /** JSON; undefined: nothing came with it. */
  data: string | undefined;
}

/** What was answered, if this link or one of its branches was written for this task: by then the answer was given. */
export function outcomeIn(entry: ChainEntry, task: Task): Outcome | undefined {
  const inside = (entry.branches ?? []).flatMap(({ entries }) => entries);
  for (const one of [entry, ...inside]) {
    const found = one === entry ? answerIn(one, task) : outcomeIn(one, task);
    if (found) return found;
  }
  return undefined;
}

function answerIn(entry: ChainEntry, { node, answered_at }: Task): Outcome | undefined {
  if (entry.node_id !== node || entry.node_type !== "approval") return undefined;
  for (const { text } of membersOf(rawOf(entry.changes.set).text)) {
    if (kindOf(text) !== "object") continue;
    const answer = new Map(membersOf(text).map(({ key, text: value }) => [key, value]));
    const [choice, by, at] = ["choice", "by", "at"].map((name) => textIn(answer.get(name)));
    if (at !== answered_at || choice === undefined) continue;
    const data = answer.get("data");
    return { entry, choice, by: by ?? "", data: data === "null" ? undefined : data };
  }
  return undefined;
}

function textIn(json: string | undefined): string | undefined {
  return json !== undefined && kindOf(json) === "text" ? JSON.parse(json) : undefined;
}
