import { type Member, membersOf } from "@nova/engine";
import { currentNodeKey, idPrefix, mappingKey, mappingOf, normalName, referencesIn } from "@nova/workflow";
import { Refused } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Draft, DraftNode, Session, SessionState } from "../ports/sessions.ts";
import { nodeOf } from "./draft.ts";
import { buildDraftGraph } from "./draft-graph.ts";
import { applyOutput } from "./edit.ts";

interface ContextDataRequest {
  node: string;
  /** JSON text of an object. */
  contextData: string;
}

interface AppliedContextData {
  state: SessionState;
  /** Nodes whose outputs were written by hand. */
  written: string[];
  /** Context members for this run only. */
  extra: Member[];
}

/**
 * Applies the outputs that a front end sends. Outputs of nodes of the draft (`id:<node>`, or a node's name) are stored
 * as hand-written if they differ, which raises the versions of their nodes. Other values that the prompt names count
 * for this run only. Null counts as absent. Throws `NotFound`, `Refused`.
 */
export async function applyContextData(
  ports: ServicePorts,
  by: Principal,
  session: Session,
  { node, contextData }: ContextDataRequest,
): Promise<AppliedContextData> {
  const members = contextMembers(contextData);
  const current = members.find(({ key }) => key === currentNodeKey)?.json;
  if (current !== undefined && current !== JSON.stringify(node))
    throw new Refused(`"${currentNodeKey}" is ${current.slice(0, 80)}, and the address runs "${node}" - send the same`);
  const data = members.filter(({ key }) => key !== currentNodeKey);
  let { state } = session;
  const written: string[] = [];
  for (const { input, json } of inputsIn(state.draft, data)) {
    if (input === node) continue;
    const next = await applyOutput(ports, by, { ...session, state }, input, { output: json });
    if (!next) continue;
    state = next;
    written.push(input);
  }
  const currentNode = nodeOf(state.draft, node);
  if (currentNode.executor === "text")
    return { state, written, extra: membersForThisRun(state.draft, currentNode, data) };
  // Other nodes have no references, so an unknown id is a mistake.
  for (const { key } of data) if (key.startsWith(idPrefix)) nodeOf(state.draft, key.slice(idPrefix.length));
  return { state, written, extra: [] };
}

/** The members with a value. Throws `Refused` for a key that marks a reference. */
export function contextMembers(contextData: string): Member[] {
  const members = membersOf(contextData);
  const mark = members.find(({ key }) => key.startsWith("$"));
  if (!mark) return members.filter(({ json }) => json !== "null");
  throw new Refused(`context_data has the key "${mark.key}" - such keys mark NOVA's references: use another name`);
}

/** Outputs of nodes of the draft. `id:<node>` has priority over the node's name. */
function inputsIn({ nodes }: Draft, members: readonly Member[]): { input: string; json: string }[] {
  return nodes.flatMap(({ id, name }) => {
    const keys = [idPrefix + id, ...(typeof name === "string" ? [name] : [])];
    const json = keys.map((wanted) => members.find(({ key }) => key === wanted)?.json).find((one) => one !== undefined);
    return json === undefined ? [] : [{ input: id, json }];
  });
}

/**
 * The members that the prompt names and no earlier node sets. Names of earlier nodes refer to their outputs, unless the
 * mapping assigns them to another id. Members that no reference names have no effect.
 */
function membersForThisRun(draft: Draft, { id, prompt, system }: DraftNode, members: readonly Member[]): Member[] {
  const json = members.find(({ key }) => key === mappingKey)?.json ?? "{}";
  const mapping = new Map(
    Array.from(mappingOf({ [mappingKey]: JSON.parse(json) }), ([name, node]) => [normalName(name), node]),
  );
  const keys = new Set(members.map(({ key }) => normalName(key)));
  const isGiven = (name: string) =>
    [name, idPrefix + name].some((key) => keys.has(normalName(key))) || mapping.has(normalName(name));
  const before = findEarlierNodes(draft, id);
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

function findEarlierNodes(draft: Draft, id: string): DraftNode[] {
  const { before } = buildDraftGraph(draft);
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
