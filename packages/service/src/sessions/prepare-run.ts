import { Context, findItems, type Member, membersOf, type OutcomeAt, readInput, slimText } from "@nova/engine";
import { currentNodeKey, idPrefix, mappingKey, mappingOf, normalName, referencesIn } from "@nova/workflow";
import { withVariables } from "../clients/clients.ts";
import { Refused } from "../errors.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import type { Draft, DraftNode, Session, SessionState } from "../ports/sessions.ts";
import { buildContextBefore, findFront } from "./compose.ts";
import { demandNoMark, isInput, listNodesBeside, sha256Of, withNode } from "./draft.ts";
import { buildDraftGraph, type DraftGraph } from "./draft-graph.ts";
import { applyNodeChanges, applyOutput } from "./edit.ts";
import { judgeFreshness, type NodeFreshness, stateAround } from "./freshness.ts";
import { type NodesOutside, type Part, partAlone, partFrom } from "./part.ts";
import { draftAround, listMapsAround, listNodes, nameOf, nodeOf, shortList } from "./scope.ts";
import { homeOf, valuesOfAll } from "./view.ts";

/** A planned run, and the state of the session for this run. The store saves both together. */
export interface Prepared {
  state: SessionState;
  /** The draft that runs; absent if it is the draft of `state`. */
  draft?: Draft;
  done: string[];
  plan: Plan | null;
}

export async function prepareStale(ports: ServicePorts, session: Session, inputs?: string): Promise<Prepared> {
  const before = session.state.context;
  const context = inputs === undefined ? before : replaceInputs(before, inputs);
  const state = context === before ? session.state : { ...session.state, context };
  const plan = planStaleNodes(await readSnapshot(ports, { ...session, state }));
  return { state, done: context === before ? [] : ["the context was changed"], plan };
}

/** Replaces keys of the initial context by `inputs`. Returns `context` itself if no value differs. Throws `Refused`. */
function replaceInputs(context: string, inputs: string): string {
  const sent = membersOf(inputs);
  demandNoMark(sent, "the inputs have");
  const before = new Map(membersOf(context).map(({ key, json }) => [key, json]));
  return sent.every(({ key, json }) => before.get(key) === json) ? context : withVariables(context, inputs);
}

export interface AloneRequest {
  node: string;
  /** JSON text of an object; see `applyContextData`. */
  contextData?: string;
  /** New fields of the node. The draft keeps them after this run. */
  changes?: Readonly<Record<string, unknown>>;
  /** Fields of a node that is not in the draft and runs once, under the id `node`. */
  passing?: Omit<DraftNode, "id">;
}

export async function prepareAlone(
  ports: ServicePorts,
  by: Principal,
  session: Session,
  { node, contextData = "{}", changes }: AloneRequest,
): Promise<Prepared> {
  const changed = changes ? await applyNodeChanges(session.state, node, changes) : { state: session.state, fields: [] };
  const current = { ...session, state: changed.state };
  const { state, written, extra } = await applyContextData(ports, by, current, { node, contextData });
  const done = [
    ...(changed.fields.length > 0 ? [`its ${changed.fields.join(", ")} were changed`] : []),
    ...(written.length > 0 ? [`the outputs of ${shortList(written)} were written by hand`] : []),
  ];
  const snapshot = await readSnapshot(ports, { ...session, state }, node);
  if (snapshot.outside.problem !== undefined)
    throw new Refused(`node "${node}" runs with the first item of its map, and ${snapshot.outside.problem}`);
  const planned = planOneNode(snapshot, node);
  return { state, done, plan: addMembers(planned, extra) };
}

export async function preparePassing(
  ports: ServicePorts,
  session: Session,
  { node: id, passing, contextData = "{}" }: AloneRequest & Required<Pick<AloneRequest, "passing">>,
): Promise<Prepared> {
  const { state } = session;
  const draft = withNode(state.draft, { ...passing, id } as DraftNode);
  const snapshot = { ...(await readSnapshot(ports, session)), draft, draftGraph: buildDraftGraph(draft) };
  const extra = contextMembers(contextData).filter(({ key }) => key !== currentNodeKey);
  return { state, draft, done: [], plan: addMembers(planOneNode(snapshot, id), extra) };
}

function addMembers(planned: Plan, extra: readonly Member[]): Plan {
  if (extra.length === 0) return planned;
  return { ...planned, context: planned.context.apply({ set: [...extra], delete: [] }, 0), extra };
}

/**
 * Applies the outputs that a front end sends. The key of an output is `id:<node>` or the name of a node. If an output
 * differs from the current output of its node, the session stores it as an output written by hand, and the version of
 * the node rises. Other values that the prompt names count for this run only. Null counts as absent. Throws `NotFound`,
 * `Refused`.
 */
export async function applyContextData(
  ports: ServicePorts,
  by: Principal,
  session: Session,
  { node, contextData }: { node: string; contextData: string },
) {
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
  // Only the prompt of a text node may name ids that are not in the draft. For any other node, such an id is a mistake.
  for (const { key } of data) if (key.startsWith(idPrefix)) nodeOf(state.draft, key.slice(idPrefix.length));
  return { state, written, extra: [] };
}

/**
 * Returns the members of `contextData` that are not null. Throws `Refused` for a key with which NOVA marks references,
 * such as `$blob`.
 */
export function contextMembers(contextData: string): Member[] {
  const members = membersOf(contextData);
  demandNoMark(members, "context_data has");
  return members.filter(({ json }) => json !== "null");
}

/**
 * Finds the members whose keys name nodes of the draft, and returns their values as outputs of these nodes. The key
 * `id:<node>` has priority over the node's name.
 */
function inputsIn({ nodes }: Draft, members: readonly Member[]): { input: string; json: string }[] {
  return listNodes(nodes).flatMap(({ id, name }) => {
    const keys = [idPrefix + id, ...(typeof name === "string" ? [name] : [])];
    const json = keys.map((wanted) => members.find(({ key }) => key === wanted)?.json).find((one) => one !== undefined);
    return json === undefined ? [] : [{ input: id, json }];
  });
}

/**
 * Returns the members that count for this run only: the values that the prompt names, except outputs of earlier nodes,
 * and the mapping of the request. The name or the id of an earlier node means the output of that node, unless the
 * mapping assigns the name to another id. Members that the prompt does not name have no effect.
 */
function membersForThisRun(draft: Draft, { id, prompt, system }: DraftNode, members: readonly Member[]): Member[] {
  const json = members.find(({ key }) => key === mappingKey)?.json ?? "{}";
  const mapping = new Map(
    Array.from(mappingOf({ [mappingKey]: JSON.parse(json) }), ([name, node]) => [normalName(name), node]),
  );
  const keys = new Set(members.map(({ key }) => normalName(key)));
  const isGiven = (name: string) =>
    [name, idPrefix + name].some((key) => keys.has(normalName(key))) || mapping.has(normalName(name));
  const before = [id, ...listMapsAround(draft.nodes, id).map((map) => map.id)].flatMap((one) =>
    findEarlierNodes(draftAround(draft, one), one),
  );
  const isOwn = (name: string) =>
    before.some((node) => {
      const names = [node.id, nameOf(node)].map(normalName);
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

export function findEarlierNodes(draft: Draft, id: string): DraftNode[] {
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

export interface Plan {
  part: Part;
  runs: string[];
  reused: string[];
  context: Context;
  /** Context members that the caller sent for this run only. An outcome that used them is stale in the draft. */
  extra?: readonly Member[];
  outcomes: ReadonlyMap<string, OutcomeAt>;
}

export interface SessionSnapshot {
  /** The draft, or the body of a map with the settings of the draft. */
  draft: Draft;
  draftGraph: DraftGraph;
  /** The context with which the first nodes start: the initial context, or the context of the map's first item. */
  begin: Context;
  outside: Outside;
  freshness: ReadonlyMap<string, NodeFreshness>;
  values: ReadonlyMap<string, OutcomeAt>;
  /** The recorded input of a node; absent if an output before the node has changed since the recording. */
  recorded?: { node: string; context: Context };
}

/** The nodes that run before the maps that contain a node, and the outcomes of these nodes. */
interface Outside extends NodesOutside {
  outcomes: ReadonlyMap<string, OutcomeAt>;
  freshness: ReadonlyMap<string, NodeFreshness>;
  /** The reason why the map has no first item. */
  problem?: string;
}

export const nothingOutside: Outside = { nodes: [], beside: [], outcomes: new Map(), freshness: new Map() };

/**
 * Reads the draft and its outcomes. If the node `id` is in the body of a map, reads this body and its outcomes instead.
 */
export async function readSnapshot(ports: ServicePorts, session: Session, id = ""): Promise<SessionSnapshot> {
  const state = stateAround(session.state, id);
  const map = listMapsAround(session.state.draft.nodes, id).at(-1);
  const first = map && (await readFirstItem(ports, session, map));
  const draftGraph = buildDraftGraph(state.draft);
  const all = judgeFreshness(state, draftGraph);
  const outcomes = Array.from(all, ([id, { outcome }]) => [id, outcome] as const);
  const values = await valuesOfAll(ports, outcomes);
  const recorded = await readRecorded(ports, state, draftGraph);
  const { begin = contextOf(state.context), outside = nothingOutside } = first ?? {};
  const freshness = new Map([...outside.freshness, ...all]);
  return { draft: state.draft, draftGraph, begin, outside, freshness, values, ...(recorded && { recorded }) };
}

/** Reads the context with which the first item of a map starts, from the outcomes of the nodes before the map. */
async function readFirstItem(
  ports: ServicePorts,
  session: Session,
  { id, items, as = "item" }: DraftNode,
): Promise<{ begin: Context; outside: Outside }> {
  const snapshot = await readSnapshot(ports, session, id);
  const { context, outcomes } = planOneNode(snapshot, id);
  const { freshness } = snapshot;
  const before = findEarlierNodes(snapshot.draft, id);
  const nodes = [...snapshot.outside.nodes, ...before];
  const beside = [...snapshot.outside.beside, ...listNodesBeside(snapshot.draft, before)];
  const outside = { nodes, beside, outcomes, freshness };
  const home = homeOf(session);
  const found = await findItems(context, String(items), async (sha256) =>
    Buffer.from(await ports.blobs.get(home, sha256)).toString(),
  );
  const [first] = "problem" in found ? [] : found;
  if (first === undefined) {
    const problem = "problem" in found ? found.problem : `context[${JSON.stringify(items)}] is empty`;
    return { begin: context, outside: { ...outside, problem: snapshot.outside.problem ?? problem } };
  }
  const item = { key: String(as), json: await slimText(ports, home, first) };
  const begin = context.apply({ set: [item, { key: "index", json: "0" }], delete: [] }, 0);
  return { begin, outside };
}

async function readRecorded(ports: ServicePorts, state: SessionState, { before }: DraftGraph) {
  if (!state.recorded) return undefined;
  const { node, context, execution, scope, seq } = state.recorded;
  if (!before.has(node) || context !== sha256Of(state.context)) return undefined;
  const earlier = findEarlierNodes(state.draft, node).map(({ id }) => state.nodes[id]?.outcome?.source);
  const isAsRecorded = earlier.every((source) => source && "hash" in source && source.execution === execution);
  return isAsRecorded ? { node, context: await readInput(ports, { execution, scope, seq }) } : undefined;
}

/**
 * Plans a run of the draft from the first stale node on. A loop and all nodes after the loop run again, because the
 * session has only the outcomes of the loop's last round. Returns null if no node is stale. Throws `Refused` for a
 * draft that cannot run.
 */
export function planStaleNodes({ draft, draftGraph, freshness, values, begin }: SessionSnapshot): Plan | null {
  const { afterLoops } = draftGraph;
  const isStale = Array.from(freshness.values()).some(({ state }) => state === "stale");
  if (afterLoops.size > 0 && !isStale) return null;
  const [problem] = draftGraph.findings.filter(({ severity }) => severity === "error");
  if (!draftGraph.graph)
    throw new Refused(problem?.message ?? "the draft has no node that could run", draftGraph.findings);
  const empty = new Set(draft.nodes.flatMap((node) => (isInput(node) && !values.has(node.id) ? [node.id] : [])));
  const counting = (id: string) => {
    const { state, isSkipped } = freshness.get(id) ?? {};
    if (state !== "fresh" || isSkipped || afterLoops.has(id)) return undefined;
    return empty.has(id) ? emptyOutcome : values.get(id);
  };
  const front = findFront(draftGraph.graph, counting, begin);
  if (!front) return null;
  const part = partFrom(draft, draftGraph, front);
  const counted = [...front.passed, ...part.steps.filter((id) => counting(id))];
  const mayRun = (id: string) => afterLoops.has(id) || !freshness.get(id)?.isSkipped;
  const runs = part.steps.filter((id) => !counting(id) && mayRun(id));
  const reused = counted.filter((id) => !empty.has(id));
  // Gives each empty input node an empty outcome, since a node without an outcome would run.
  const outcomes = pickKeys(reused, values);
  for (const id of part.steps) if (empty.has(id)) outcomes.set(id, emptyOutcome);
  return { part, runs, reused: sortByOrder(reused, draftGraph), context: front.context, outcomes };
}

const emptyOutcome: OutcomeAt = { set: [], delete: [], decision: null };

/** Plans one node alone. Throws `NotFound`, `Refused`. */
export function planOneNode({ draft, draftGraph, values, recorded, begin, outside }: SessionSnapshot, id: string) {
  const node = nodeOf(draft, id);
  if (!draftGraph.before.has(id))
    throw new Refused(`node "${id}" is of type ${node.type}, which does nothing by itself`);
  const front = draftGraph.graph && buildContextBefore(draftGraph.graph, id, (one) => values.get(one), begin);
  const { passed = [] } = front ?? {};
  const context = recorded?.node === id ? recorded.context : (front?.context ?? begin);
  const before = sortByOrder(passed, draftGraph);
  const earlier = outside.nodes.filter((one) => outside.outcomes.has(one.id));
  return {
    part: partAlone(draft, draftGraph, node, before, { ...outside, nodes: earlier }),
    runs: [id],
    reused: [...earlier.map((one) => one.id), ...before],
    context,
    outcomes: new Map([...outside.outcomes, ...pickKeys(passed, values)]),
  };
}

function contextOf(text: string): Context {
  return new Context().apply({ set: membersOf(text), delete: [] }, 0);
}

function sortByOrder(ids: readonly string[], { order }: DraftGraph): string[] {
  const wanted = new Set(ids);
  return order.filter((id) => wanted.has(id));
}

function pickKeys<T>(ids: readonly string[], all: ReadonlyMap<string, T>): Map<string, T> {
  return new Map(ids.flatMap((id) => (all.has(id) ? [[id, all.get(id) as T] as const] : [])));
}
