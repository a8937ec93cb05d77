import type { Session } from "@nova/client";
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
import { texts } from "../../texts.ts";
import { diffNodeTexts, listNodeTexts, type ParsedDefinition } from "../workflow/definition.ts";

export type DraftEdge = Session["edges"][number];

/** A node with its definition as JSON text, which keeps all digits. */
interface DocNode {
  id: string;
  text: string;
}

type Settings = Session["settings"];

/** The drawing of a draft, and its settings. Edges keep their order, which is the order of branches. */
export interface Doc {
  nodes: readonly DocNode[];
  edges: readonly DraftEdge[];
  layout: Readonly<Session["layout"]>;
  settings: Settings;
}

export function readDoc({ nodes, beside, edges, layout, settings }: Pick<Session, keyof Doc | "beside">): Doc {
  const drawn = [...nodes, ...beside].map(({ node_id: id, definition }) => ({ id, text: asRaw(definition).text }));
  return { nodes: drawn, edges, layout, settings };
}

/** Returns the parts of a document that a request to the API replaces. */
export function renderParts({ nodes, edges, layout, settings }: Doc) {
  const ids = new Set(listNodesInside(nodes).map(({ id }) => id));
  const known = Object.entries(layout).filter(([id]) => ids.has(id));
  const texts = nodes.map(({ text }) => new Raw(text));
  return { nodes: texts, edges: [...edges], layout: Object.fromEntries(known), settings };
}

/**
 * Reads the nodes and edges that a map runs for each item. Returns undefined if the node is no map, or if the map calls
 * a workflow.
 */
export function readBody(definition: string): Pick<Doc, "nodes" | "edges"> | undefined {
  const nodes = findMember(definition, "nodes");
  if (nodes === undefined || readKind(nodes) !== "list") return undefined;
  return { nodes: listDocNodes(nodes), edges: JSON.parse(findMember(definition, "edges") ?? "[]") };
}

function listDocNodes(nodes: string): DocNode[] {
  return listElements(nodes).map((text) => ({ id: readString(findMember(text, "id")) ?? "", text }));
}

/** Lists nodes at all levels. The nodes in the body of a map follow the map. */
export function listNodesInside(nodes: readonly DocNode[]): DocNode[] {
  return nodes.flatMap((node) => [node, ...listNodesInside(readBody(node.text)?.nodes ?? [])]);
}

/** Compares the nodes of a draft with those of the active version. A draft has no start, and ends only inside maps. */
export function diffDraft(active: ParsedDefinition["nodes"], nodes: Doc["nodes"]) {
  const textOf = (text: string) => readString(findMember(text, "code")) ?? readString(findMember(text, "prompt")) ?? "";
  const drawn = new Map(listNodesInside(nodes).map((node) => [node.id, textOf(node.text)]));
  const { changed, added, removed } = diffNodeTexts(listNodeTexts(active), drawn);
  return { changed, added, removed: removed.filter((id) => !/^(start|end)$/.test(active.get(id)?.type ?? "")) };
}

/**
 * Changes the body of the map `map`, or the document itself if `map` is undefined. Changes nothing if the map was
 * deleted.
 */
export function changeInside(doc: Doc, map: string | undefined, change: (doc: Doc) => Doc): Doc {
  if (map === undefined) return change(doc);
  const outer = doc.nodes.find((node) => listNodesInside([node]).some(({ id }) => id === map));
  const body = outer && readBody(outer.text);
  if (!body) return doc;
  const inner = { ...doc, ...body };
  const { nodes, edges, ...rest } = outer.id === map ? change(inner) : changeInside(inner, map, change);
  const text = changeMembers(outer.text, [
    ["nodes", `[${nodes.map((node) => node.text).join(",")}]`],
    ["edges", JSON.stringify(edges)],
  ]);
  return { ...rest, nodes: doc.nodes.map((node) => (node === outer ? { ...node, text } : node)), edges: doc.edges };
}

/** A changed member of an object as JSON; null removes it. */
export type Change = readonly [key: string, json: string | null];

/** Replaces and removes members of an object. */
export function changeMembers(object: string, changes: readonly Change[]): string {
  const members = Array.from(new Map<string, string | null>([...readMembers(object), ...changes]));
  return `{${members.flatMap(([key, json]) => (json === null ? [] : [`${JSON.stringify(key)}:${json}`])).join(",")}}`;
}

export function changeNode(doc: Doc, id: string, changes: readonly Change[]): Doc {
  const nodes = doc.nodes.map((node) => (node.id === id ? { id, text: changeMembers(node.text, changes) } : node));
  return { ...doc, nodes };
}

/**
 * The settings that only an empty value removes. If a draft leaves out such a setting, the published workflow keeps its
 * earlier value.
 */
const emptySettings: Readonly<Record<string, string>> = { triggers: "[]", on_failure: "{}" };

export function changeSettings(doc: Doc, changes: readonly Change[]): Doc {
  const all = changes.map(([key, json]): Change => [key, json ?? emptySettings[key] ?? null]);
  for (const [, json] of all) demandSafeNumbers(JSON.parse(json ?? "null"));
  return { ...doc, settings: JSON.parse(changeMembers(JSON.stringify(doc.settings), all)) };
}

/**
 * Throws `RangeError` for a whole number that JSON readers round. The server would store another number than the user
 * sees.
 */
function demandSafeNumbers(value: unknown): void {
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new RangeError(texts.build.settings.unsafeNumber(value));
  if (value !== null && typeof value === "object") for (const one of Object.values(value)) demandSafeNumbers(one);
}

export type Trigger = Readonly<Record<string, unknown>>;

export function listTriggers({ triggers }: Settings): readonly Trigger[] {
  return Array.isArray(triggers) ? triggers : [];
}

export function addTrigger(doc: Doc, trigger: Trigger): Doc {
  return setTriggers(doc, [...listTriggers(doc.settings), trigger]);
}

/**
 * Changes members of a trigger, or removes the trigger if there are no changes. `place`, its position in the list,
 * distinguishes equal triggers. Changes nothing if another user changed or removed the trigger.
 */
export function changeTrigger(doc: Doc, trigger: Trigger, place: number, changes?: readonly Change[]): Doc {
  const [triggers, text] = [listTriggers(doc.settings), JSON.stringify(trigger)];
  const isSame = (one: Trigger | undefined) => JSON.stringify(one) === text;
  const at = isSame(triggers[place]) ? place : triggers.findIndex(isSame);
  if (at < 0) return doc;
  const changed = changes ? [JSON.parse(changeMembers(text, changes))] : [];
  demandSafeNumbers(changed);
  return setTriggers(doc, triggers.toSpliced(at, 1, ...changed));
}

export interface KeyedTrigger {
  key: number;
  trigger: Trigger;
}

/**
 * Gives each trigger a key, which stays the same when the trigger moves or changes. `before` is the earlier list with
 * its keys. If the list did not become shorter, an unknown trigger counts as a change of the earlier trigger with the
 * same type and position.
 */
export function keyTriggers(triggers: readonly Trigger[], before: readonly KeyedTrigger[]): readonly KeyedTrigger[] {
  const left = new Set(before);
  const found: (KeyedTrigger | undefined)[] = [];
  const jsons = triggers.map((trigger) => JSON.stringify(trigger));
  const isAt = (place: number) => (one: KeyedTrigger) => JSON.stringify(one.trigger) === jsons[place];
  const isChange = (place: number) => (one: KeyedTrigger) =>
    triggers.length >= before.length && one.trigger.type === triggers[place]?.type;
  const ways = [
    (place: number) => before.slice(place, place + 1).find(isAt(place)),
    (place: number) => Array.from(left).find(isAt(place)),
    (place: number) => before.slice(place, place + 1).find(isChange(place)),
  ];
  for (const find of ways)
    for (const place of triggers.keys()) {
      const one = found[place] ? undefined : find(place);
      if (one && left.delete(one)) found[place] = one;
    }
  let last = Math.max(0, ...before.map(({ key }) => key));
  return triggers.map((trigger, place) => ({ key: found[place]?.key ?? ++last, trigger }));
}

function setTriggers(doc: Doc, triggers: readonly Trigger[]): Doc {
  return { ...doc, settings: { ...doc.settings, triggers } };
}

function edgeKey({ from, to, condition }: DraftEdge): string {
  return JSON.stringify([from, to, condition === undefined ? null : String(condition)]);
}

function isSameEdge(a: DraftEdge, b: DraftEdge): boolean {
  return edgeKey(a) === edgeKey(b);
}

/** Says where a user inserts a new node: on an edge, after a node, or without any edge. */
export type NewPlace = { edge: DraftEdge } | { after: string } | undefined;

/** The conditions of the edges that a new node needs, by its type. */
const conditionsOf: Record<string, readonly string[]> = {
  decision: ["default"],
  DecisionNode: ["default"],
  approval: ["approved", "rejected"],
  end: [],
};

/**
 * Adds a node. If `place` is an edge, inserts the node between the two nodes of this edge, and keeps the order of
 * branches.
 */
export function addNodeAt(doc: Doc, node: DocNode, place: NewPlace): Doc {
  const nodes = [...doc.nodes, node];
  if (!place) return { ...doc, nodes };
  const leaving = (to: string) => {
    const type = readString(findMember(node.text, "type")) ?? "action";
    const conditions = conditionsOf[type] ?? [undefined];
    return conditions.map((condition) => ({ from: node.id, to, ...(condition !== undefined && { condition }) }));
  };
  if ("edge" in place) {
    const { edge } = place;
    const edges = doc.edges.flatMap((one) =>
      isSameEdge(one, edge) ? [{ ...one, to: node.id }, ...leaving(one.to)] : [one],
    );
    return { ...doc, nodes, edges };
  }
  const { after } = place;
  const [only, ...others] = doc.edges.filter(({ from }) => from === after);
  // If the only edge from the node `after` leads to an end, inserts the new node before this end.
  const isLast = only && others.length === 0 && isEnd(doc.nodes.find(({ id }) => id === only.to));
  if (isLast) return addNodeAt(doc, node, { edge: only });
  return { ...doc, nodes, edges: [...doc.edges, { from: after, to: node.id, ...nextCondition(doc, after) }] };
}

/**
 * Returns whether a node is an end. Only the bodies of maps list their ends, so an unknown node is an end of the draft.
 */
function isEnd(node: DocNode | undefined): boolean {
  return node === undefined || readString(findMember(node.text, "type")) === "end";
}

/**
 * Returns the condition of a new edge from a node: the first choice of a decision or an approval that has no edge yet.
 * Returns `{}` for other nodes.
 */
export function nextCondition(
  { nodes, edges }: Pick<Doc, "nodes" | "edges">,
  from: string,
): { condition?: string | boolean } {
  const type = readString(findMember(nodes.find(({ id }) => id === from)?.text ?? "{}", "type")) ?? "action";
  if (!(type in conditionsOf)) return {};
  const taken = new Set(edges.flatMap((one) => (one.from === from ? [String(one.condition)] : [])));
  const isApproval = type === "approval";
  const choices = isApproval ? ["approved", "rejected", "timeout"] : [true, false];
  const condition = choices.find((choice) => !taken.has(String(choice))) ?? (isApproval ? undefined : "default");
  return condition === undefined ? {} : { condition };
}

export function connect(doc: Doc, from: string, to: string): Doc {
  return addEdge(doc, { from, to, ...nextCondition(doc, from) });
}

export function addEdge(doc: Doc, edge: DraftEdge): Doc {
  return doc.edges.some((one) => isSameEdge(one, edge)) ? doc : { ...doc, edges: [...doc.edges, edge] };
}

/** Adds a node as a tool of an agent. */
export function addTool(doc: Doc, agent: string, node: DocNode): Doc {
  const tools = (text: string) => [...readTools(text), JSON.stringify(node.id)];
  const nodes = doc.nodes.map((one) => (one.id === agent ? replaceTools(one, tools(one.text)) : one));
  return { ...doc, nodes: [...nodes, node] };
}

/** Returns the tools of an agent as JSON: ids of nodes, and objects that name workflows. */
function readTools(definition: string): string[] {
  return listElements(findMember(definition, "tools") ?? "[]");
}

/** Lists the ids of the nodes that a definition has as tools. */
export function listTools(definition: string): string[] {
  return readTools(definition).flatMap((tool) => readString(tool) ?? []);
}

function replaceTools({ id, text }: DocNode, tools: readonly string[]): DocNode {
  return { id, text: changeMembers(text, [["tools", `[${tools.join(",")}]`]]) };
}

/**
 * Lists the ids of the nodes that belong to a node, like the server: the tools of an agent, and the fallback of code.
 */
export function listIdsBeside(definition: string): string[] {
  const named = [...readTools(definition), findMember(definition, "fallback")];
  return named.flatMap((json) => readString(json) ?? []);
}

/**
 * Returns the ids of a node and of its tools and fallbacks that no other node uses. A deletion of the node deletes
 * them, too. Otherwise they would run as steps.
 */
function findOwned({ nodes }: Doc, id: string): Set<string> {
  const owned = new Set([id]);
  for (const owner of owned) {
    const beside = nodes.flatMap((node) => (node.id === owner ? listIdsBeside(node.text) : []));
    const others = new Set(nodes.flatMap((node) => (owned.has(node.id) ? [] : listIdsBeside(node.text))));
    for (const one of beside) if (!others.has(one)) owned.add(one);
  }
  return owned;
}

/**
 * Removes a node from the draft and from the tools of agents. Also removes the tools and fallbacks that only this node
 * uses. If one edge leads to the node, and all edges from the node lead to one other node, connects these two
 * neighbours.
 */
export function removeNode(doc: Doc, id: string): Doc {
  const owned = findOwned(doc, id);
  const nodes = doc.nodes.flatMap((node) => {
    if (owned.has(node.id)) return [];
    const tools = readTools(node.text);
    const left = tools.filter((tool) => tool !== JSON.stringify(id));
    return [left.length === tools.length ? node : replaceTools(node, left)];
  });
  const [before, ...moreBefore] = doc.edges.filter(({ to }) => to === id);
  const leaving = doc.edges.filter(({ from }) => from === id);
  const targets = new Set(leaving.map(({ to }) => to));
  const [next] = targets;
  const isBridge =
    before && moreBefore.length === 0 && targets.size === 1 && next !== undefined && next !== before.from;
  const edges = doc.edges.flatMap((edge) => {
    if (isBridge && edge === before) {
      // The new edge closes the same loop as the edges that it replaces, so it gets their limit `max`.
      const max = before.max ?? leaving.find((one) => one.max !== undefined)?.max;
      const bridge = { ...edge, to: next, ...(max !== undefined && { max }) };
      return doc.edges.some((one) => isSameEdge(one, bridge)) ? [] : [bridge];
    }
    return owned.has(edge.from) || owned.has(edge.to) ? [] : [edge];
  });
  return { ...doc, nodes, edges };
}

export function removeEdge(doc: Doc, edge: DraftEdge): Doc {
  return { ...doc, edges: doc.edges.filter((one) => !isSameEdge(one, edge)) };
}

export function moveNode(doc: Doc, id: string, place: { x: number; y: number }): Doc {
  return { ...doc, layout: { ...doc.layout, [id]: { x: Math.round(place.x), y: Math.round(place.y) } } };
}

/**
 * Applies the difference between `from` and `to` to the current document `doc`. An undo thus keeps the changes that
 * other users have made meanwhile.
 */
export function applyChange(doc: Doc, from: Doc, to: Doc): Doc {
  const textsOf = ({ nodes }: Doc) => new Map(nodes.map(({ id, text }) => [id, text]));
  const [old, now] = [textsOf(from), textsOf(to)];
  const kept = doc.nodes
    .filter(({ id }) => !old.has(id) || now.has(id))
    .map(({ id, text }) => ({ id, text: mergeTexts(text, old.get(id), now.get(id)) }));
  const present = new Set(kept.map(({ id }) => id));
  const added = to.nodes.filter(({ id }) => !old.has(id) && !present.has(id));
  return {
    nodes: [...kept, ...added],
    edges: mergeLists(doc.edges, from.edges, to.edges, edgeKey),
    layout: mergeRecords(doc.layout, from.layout, to.layout),
    settings: mergeSettings(doc.settings, from.settings, to.settings),
  };
}

/** Keeps the triggers that other users added or changed meanwhile. */
function mergeSettings(settings: Settings, from: Settings, to: Settings): Settings {
  const merged = mergeRecords(settings, from, to);
  const [now, before, after] = [settings, from, to].map((one) => JSON.stringify(one.triggers));
  if (before === after || before === now) return merged;
  const lists = [listTriggers(settings), listTriggers(from), listTriggers(to)] as const;
  return { ...merged, triggers: mergeLists(...lists, (trigger) => JSON.stringify(trigger)) };
}

/** Applies the changed members of a definition. */
function mergeTexts(text: string, from = text, to = text): string {
  if (from === to) return text;
  const [old, now] = [readMembers(from), readMembers(to)];
  const keys = Array.from(new Set([...old.keys(), ...now.keys()]));
  const changed = keys.filter((key) => old.get(key) !== now.get(key));
  return changeMembers(
    text,
    changed.map((key) => [key, now.get(key) ?? null]),
  );
}

type Members<T> = Readonly<Record<string, T>>;

function mergeRecords<T>(record: Members<T>, from: Members<T>, to: Members<T>): Record<string, T> {
  const keys = Object.keys({ ...from, ...to });
  const changed = new Set(keys.filter((key) => JSON.stringify(from[key]) !== JSON.stringify(to[key])));
  const kept = Object.entries(record).filter(([key]) => !changed.has(key) || key in to);
  const set = Object.entries(to).filter(([key]) => changed.has(key));
  return Object.fromEntries([...kept, ...set]);
}

function mergeLists<T>(
  list: readonly T[],
  from: readonly T[],
  to: readonly T[],
  keyOf: (element: T) => string,
): readonly T[] {
  const [listed, before, after] = [list, from, to].map((one) => one.map(keyOf)) as [string[], string[], string[]];
  if (listed.join("\n") === before.join("\n")) return to;
  const kept = list.filter((one) => !before.includes(keyOf(one)) || after.includes(keyOf(one)));
  const present = new Set(kept.map(keyOf));
  return [...kept, ...to.filter((one) => !before.includes(keyOf(one)) && !present.has(keyOf(one)))];
}

/** Renders the workflow of a draft as a person writes it. */
export function renderWorkflow({ nodes, edges }: Pick<Doc, "nodes" | "edges">, name: string, settings: object): string {
  const members = [
    ["name", JSON.stringify(name)],
    ...Object.entries(settings).map(([key, value]) => [key, JSON.stringify(value)]),
    ["nodes", `[${nodes.map(({ text }) => text).join(",")}]`],
    ["edges", JSON.stringify(edges)],
  ];
  return formatJson(`{${members.map(([key, json]) => `${JSON.stringify(key)}:${json}`).join(",")}}`);
}

/** Parses the JSON of a workflow that a user typed. If the text is no workflow, returns the reason as a string. */
export function parseWorkflowText(text: string) {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  if (parsed === null || typeof parsed !== "object" || Array.isArray(parsed)) return "{ … }";
  const { id: _, name, nodes, edges, ...settings } = parsed as Record<string, unknown>;
  if (!Array.isArray(nodes) || !Array.isArray(edges)) return "nodes, edges";
  return {
    name: typeof name === "string" ? name : undefined,
    settings,
    nodes: listDocNodes(findMember(text, "nodes") ?? "[]"),
    edges: edges as DraftEdge[],
  };
}

interface Exported extends Pick<Doc, "nodes" | "edges">, Pick<Session, "name" | "settings" | "files"> {
  /** The initial context as JSON text. */
  context: string;
}

interface ExportFile {
  path: string;
  text: string;
}

const fileOf = {
  code: { member: "codeFile", path: (id: string) => `nodes/${id}.py` },
  prompt: { member: "promptFile", path: (id: string) => `prompts/${id}.md` },
} as const;

/**
 * Lists the files of a draft in the layout of `nova init`: one file for the graph, and one for each code and prompt.
 */
export function listExportFiles({ nodes, edges, name, settings, files, context }: Exported): ExportFile[] {
  const texts: ExportFile[] = [];
  const written = nodes.map(({ id, text }) => ({ id, text: moveTexts(id, text, texts) }));
  return [
    { path: "workflow.json", text: `${renderWorkflow({ nodes: written, edges }, name, settings)}\n` },
    { path: "input.json", text: `${formatJson(context)}\n` },
    ...texts,
    ...Object.entries(files).map(([path, text]) => ({ path, text })),
  ];
}

/** Replaces the code and the prompt of a node by the names of files. Adds these files to `texts`. */
function moveTexts(id: string, definition: string, texts: ExportFile[]): string {
  const members = listMembers(definition).map(({ key, text }) => {
    const file = key === "code" || key === "prompt" ? fileOf[key] : undefined;
    const content = file && readString(findMember(definition, key));
    if (!file || content === undefined) return `${JSON.stringify(key)}:${text}`;
    const path = file.path(id);
    texts.push({ path, text: content.endsWith("\n") ? content : `${content}\n` });
    return `${JSON.stringify(file.member)}:${JSON.stringify(path)}`;
  });
  return `{${members.join(",")}}`;
}
