import { type Member, membersOf } from "@nova/engine";
import { currentNodeKey, idPrefix, mappingKey, mappingOf, normalName, referencesIn } from "@nova/workflow";
import { Refused } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Draft, DraftNode, Session, SessionState } from "../ports/sessions.ts";
import { nodeOf } from "./draft.ts";
import { withOutput } from "./edit.ts";
import { shapeOf } from "./shape.ts";

interface GivenData {
  node: string;
  /** JSON text of an object. */
  contextData: string;
}

interface TakenData {
  state: SessionState;
  /** Nodes whose outputs were written by hand. */
  written: string[];
  /** Members for this run alone. */
  extra: Member[];
}

/**
 * Takes over outputs of other nodes as a front end has them. Outputs of nodes of the draft (`id:<node>`, or a node's name)
 * are written by hand where they differ, which raises the versions of their nodes. Everything else that the prompt names
 * counts for this run alone. A value that is null counts as absent. Throws `NotFound`, `Refused`.
 */
export async function withContextData(
  ports: ServicePorts,
  by: Principal,
  session: Session,
  { node, contextData }: GivenData,
): Promise<TakenData> {
  const members = contextMembers(contextData);
  const current = members.find(({ key }) => key === currentNodeKey)?.json;
  if (current !== undefined && current !== JSON.stringify(node))
    throw new Refused(`"${currentNodeKey}" is ${current.slice(0, 80)}, and the address runs "${node}" - send the same`);
  const data = members.filter(({ key }) => key !== currentNodeKey);
  let { state } = session;
  const written: string[] = [];
  for (const { input, json } of inputsIn(state.draft, data)) {
    if (input === node) continue;
    const next = await withOutput(ports, by, { ...session, state }, input, { output: json });
    if (!next) continue;
    state = next;
    written.push(input);
  }
  const asked = nodeOf(state.draft, node);
  if (asked.executor === "text") return { state, written, extra: namedAlone(state.draft, asked, data) };
  // No other node has references, so a foreign id is a slip of the pen.
  for (const { key } of data) if (key.startsWith(idPrefix)) nodeOf(state.draft, key.slice(idPrefix.length));
  return { state, written, extra: [] };
}

/** Members with a value. Throws `Refused` for a key that marks a reference. */
export function contextMembers(contextData: string): Member[] {
  const members = membersOf(contextData);
  const mark = members.find(({ key }) => key.startsWith("$"));
  if (!mark) return members.filter(({ json }) => json !== "null");
  throw new Refused(`context_data has the key "${mark.key}" - such keys mark NOVA's references: use another name`);
}

/** Outputs of nodes of the draft. `id:<node>` wins over the node's name. */
function inputsIn({ nodes }: Draft, members: readonly Member[]): { input: string; json: string }[] {
  return nodes.flatMap(({ id, name }) => {
    const keys = [idPrefix + id, ...(typeof name === "string" ? [name] : [])];
    const json = keys.map((wanted) => members.find(({ key }) => key === wanted)?.json).find((one) => one !== undefined);
    return json === undefined ? [] : [{ input: id, json }];
  });
}

/**
 * Members that the prompt names and the draft does not have before the node. The names of nodes before it lead to their
 * outputs anyway, unless the mapping gives a name another id. Members that no reference names change nothing.
 */
function namedAlone(draft: Draft, { id, prompt, system }: DraftNode, members: readonly Member[]): Member[] {
  const json = members.find(({ key }) => key === mappingKey)?.json ?? "{}";
  const mapping = new Map(
    Array.from(mappingOf({ [mappingKey]: JSON.parse(json) }), ([name, node]) => [normalName(name), node]),
  );
  const keys = new Set(members.map(({ key }) => normalName(key)));
  const isGiven = (name: string) =>
    [name, idPrefix + name].some((key) => keys.has(normalName(key))) || mapping.has(normalName(name));
  const before = nodesBefore(draft, id);
  const isOwn = (name: string) =>
    before.some((node) => {
      const names = [node.id, typeof node.name === "string" ? node.name : node.id].map(normalName);
      return names.includes(normalName(name)) && (mapping.get(normalName(name)) ?? node.id) === node.id;
    });
  const names = [prompt, system]
    .flatMap((text) => (typeof text === "string" ? referencesIn(text, isGiven) : []))
    .flatMap(({ name }) => (isGiven(name) && !isOwn(name) ? [name] : []));
  if (names.length === 0) return [];
  const ids = names.flatMap((name) => [name, mapping.get(normalName(name)) ?? name]);
  const wanted = new Set([mappingKey, ...names, ...ids.map((one) => idPrefix + one)].map(normalName));
  return members.filter(({ key }) => wanted.has(normalName(key)));
}

function nodesBefore(draft: Draft, id: string): DraftNode[] {
  const { before } = shapeOf(draft);
  const found = new Set<string>();
  const add = (node: string) => {
    for (const { from } of before.get(node) ?? []) {
      if (found.has(from)) continue;
      found.add(from);
      add(from);
    }
  };
  add(id);
  return draft.nodes.filter((node) => found.has(node.id));
}
