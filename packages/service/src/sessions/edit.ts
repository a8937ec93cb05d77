import { isDeepStrictEqual } from "node:util";
import * as engine from "@nova/engine";
import { conditionLabel, defaultLabel, defined, secretKeys } from "@nova/workflow";
import { recordDeed } from "../audit/audit.ts";
import { Conflict, Refused } from "../errors.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import type { Draft, DraftEdge, DraftNode, Session, SessionState } from "../ports/sessions.ts";
import { demandNoMark, isStep, sized, withChangedNode, withEdge, withNode } from "./draft.ts";
import { buildDraftGraph } from "./draft-graph.ts";
import { withUnseen } from "./draft-triggers.ts";
import { addEdit, judgeFreshness, stateAround } from "./freshness.ts";
import { demandNode } from "./part.ts";
import { changeSession, demandUnchanged, type ExpectedVersions } from "./record.ts";
import { draftAround, listNodes, nodeOf, shortList } from "./scope.ts";
import { homeOf, valuesOf } from "./view.ts";

/** Replaces the draft of a session. The versions of changed nodes rise; unchanged nodes keep their outputs. */
export function withDraft(state: SessionState, draft: Draft): SessionState {
  return { ...state, draft, nodes: raiseVersions(state, draft) };
}

/**
 * Applies changes to a node. Returns the changed fields. If nothing differs, it returns the same `state` object. Throws
 * `NotFound`, `Refused`.
 */
export async function applyNodeChanges(
  state: SessionState,
  node: string,
  changes: Readonly<Record<string, unknown>>,
): Promise<{ state: SessionState; fields: string[] }> {
  const { draft, fields } = withChangedNode(state.draft, node, changes);
  await demandNode(draftAround(draft, node), nodeOf(draft, node));
  return { state: fields.length === 0 ? state : withDraft(state, draft), fields };
}

export interface DraftChange {
  name?: string;
  /** JSON text of an object. */
  context?: string;
  settings?: Record<string, unknown>;
  nodes?: readonly DraftNode[];
  edges?: readonly DraftEdge[];
  layout?: Record<string, { x: number; y: number }>;
}

/**
 * Replaces parts of a session. An unchanged node keeps its version and its output. Throws as all edits do (see
 * `applyToDraft`), and `Conflict` if the session does not have the expected revision.
 */
export async function changeDraft(
  ports: ServicePorts,
  by: Principal,
  id: string,
  { revision, ...wanted }: DraftChange & Pick<ExpectedVersions, "revision">,
): Promise<Session> {
  const { session } = await changeSession(ports, by, id, async (session) => {
    demandUnchanged(session, defined({ revision }));
    const { state } = session;
    const { name = session.name, context = state.context, layout = state.layout } = wanted;
    const settings = wanted.settings && withUnseen(by, state.draft.settings, wanted.settings);
    const change = { ...wanted, ...defined({ settings }) };
    demandNoMark(engine.membersOf(context), "the context has");
    demandSecrets(state, change);
    const draft = await replaceParts(state.draft, change);
    const next = { ...withDraft(state, draft), context, ...defined({ layout }) };
    const isSame = name === session.name && isDeepStrictEqual(next, state);
    return {
      state: isSame ? state : next,
      name,
      what: describeChange(session, { ...change, draft }),
      answer: undefined,
    };
  });
  return session;
}

/** Throws `Refused` if new settings make a secret input public although the session may hold a value of that input. */
export function demandSecrets({ draft, context, nodes }: SessionState, { settings }: Pick<DraftChange, "settings">) {
  if (!settings) return;
  const kept = secretKeys(settings);
  const hasOutput = Object.values(nodes).some(({ outcome }) => outcome);
  const held = new Set(engine.membersOf(context).map(({ key }) => key));
  const lost = Array.from(secretKeys(draft.settings)).find((key) => !kept.has(key) && (hasOutput || held.has(key)));
  if (lost === undefined) return;
  throw new Refused(`input "${lost}" is secret, and the session may hold its value - keep "secret": true in "inputs"`);
}

async function replaceParts(before: Draft, { settings = before.settings, nodes, edges }: DraftChange): Promise<Draft> {
  let draft = sized({ ...before, settings, nodes: [], edges: [] });
  const known = new Map(listNodes(before.nodes).map((node) => [node.id, node]));
  const isKnown = (node: DraftNode) => isDeepStrictEqual(known.get(node.id), node);
  for (const node of nodes ? withFrame(nodes, before, edges ?? before.edges) : before.nodes) {
    if (!isKnown(node)) await demandNode(draft, node, isKnown);
    draft = withNode(draft, isKnown(node) ? (known.get(node.id) as DraftNode) : node);
  }
  for (const edge of edges ?? before.edges) draft = withEdge(draft, edge);
  return draft;
}

/**
 * Adds the start nodes and end nodes of the draft that an edge mentions. The caller may leave out these nodes, because
 * no answer lists them.
 */
function withFrame(nodes: readonly DraftNode[], before: Draft, edges: readonly DraftEdge[]): readonly DraftNode[] {
  const known = new Set(nodes.map(({ id }) => id));
  const mentioned = new Set(edges.flatMap(({ from, to }) => [from, to]));
  return [...nodes, ...before.nodes.filter((node) => !isStep(node) && !known.has(node.id) && mentioned.has(node.id))];
}

function raiseVersions({ draft: before, nodes }: SessionState, { nodes: after }: Draft): SessionState["nodes"] {
  const known = new Map(listNodes(before.nodes).map((node) => [node.id, node]));
  return Object.fromEntries(
    listNodes(after).map((node) => {
      const record = nodes[node.id] ?? { version: 0 };
      const isSame = isDeepStrictEqual(known.get(node.id), node);
      return [node.id, isSame ? record : { ...record, version: record.version + 1 }];
    }),
  );
}

function describeChange({ state, name }: Session, { draft, ...change }: DraftChange & { draft: Draft }): string {
  const [earlier, now] = [listNodes(state.draft.nodes), listNodes(draft.nodes)];
  const [before, after] = [earlier, now].map((nodes) => nodes.map(({ id }) => id)) as [string[], string[]];
  const known = new Map(earlier.map((node) => [node.id, node]));
  const isChanged = (node: DraftNode) => before.includes(node.id) && !isDeepStrictEqual(known.get(node.id), node);
  const listOf = (what: string, nodes: readonly string[]) =>
    nodes.length > 0 ? [`${shortList(nodes, 5)} ${what}`] : [];
  const [added, deleted] = [after.filter((id) => !before.includes(id)), before.filter((id) => !after.includes(id))];
  const changed = now.flatMap((node) => (isChanged(node) ? [node.id] : []));
  const parts = [
    ...listOf("added", added),
    ...listOf("deleted", deleted),
    ...listOf("changed", changed),
    ...(isDeepStrictEqual(state.draft.edges, draft.edges) ? [] : ["edges changed"]),
    ...(isDeepStrictEqual(state.draft.settings, draft.settings) ? [] : ["settings changed"]),
    ...(change.context !== undefined && change.context !== state.context ? ["context changed"] : []),
    ...(change.name !== undefined && change.name !== name ? ["name changed"] : []),
  ];
  return `the draft was changed: ${parts.join("; ") || "positions"}`;
}

/** Sets an output by hand; `output` is JSON text. The output has priority over the outcome of a run in progress. */
export async function editOutput(
  ports: ServicePorts,
  by: Principal,
  id: string,
  node: string,
  { output, decision, ...expected }: ExpectedVersions & { output: string; decision?: string },
): Promise<Session> {
  const { session } = await changeSession(ports, by, id, async (session) => {
    demandUnchanged(session, expected, node);
    const state = await applyOutput(ports, by, session, node, { output, decision });
    if (!state) throw new Conflict(`node "${node}" has this output already - nothing was changed`);
    return { state, node, what: `the output of node "${node}" was written by hand`, answer: undefined };
  });
  await recordDeed(ports, by, { action: "session.edited", client: session.client, subject: id, detail: { node } });
  return session;
}

/**
 * Returns the state with a new output of a node; undefined if the output equals the current one. Throws `NotFound`,
 * `Refused`.
 */
export async function applyOutput(
  ports: ServicePorts,
  by: Principal,
  session: Session,
  id: string,
  { output, decision }: { output: string; decision?: string | undefined },
): Promise<SessionState | undefined> {
  const { state } = session;
  const node = nodeOf(state.draft, id);
  const around = stateAround(state, id);
  const draftGraph = buildDraftGraph(around.draft);
  const { outcome } = judgeFreshness(around, draftGraph).get(id) ?? {};
  if (!draftGraph.before.has(id)) throw new Refused(`node "${id}" is of type ${node.type}, which has no output`);
  const before = outcome && (await valuesOf(ports, outcome));
  const members = engine.membersOf(outputText(node, output, before));
  demandNoMark(members, "the output has");
  await demandNoSecret(ports, session, members);
  const home = homeOf(session);
  const kept = await Promise.all(
    members.map(async ({ key, json }) => ({ key, json: await engine.slimText(ports, home, json) })),
  );
  const chosen = decisionOf(around, id, decision, members) ?? outcome?.decision;
  const isSame = before && !before.error && isDeepStrictEqual(parseMembers(before.set), parseMembers(kept));
  if (isSame && chosen === (before.decision ?? undefined)) return undefined;
  const source = { by: by.id, at: new Date(ports.clock.now()).toISOString(), set: engine.objectText(kept) };
  const { nodes } = addEdit(around, draftGraph, id, { source, ...defined({ decision: chosen }) });
  return { ...state, nodes, family: state.family ?? { root: home.root } };
}

/** Throws `Refused` if an output contains a secret, since outputs are stored and shown. */
async function demandNoSecret(ports: ServicePorts, session: Session, members: readonly engine.Member[]): Promise<void> {
  const { draft, context } = session.state;
  const begin = new engine.Context(engine.membersOf(context).map((member) => ({ ...member, by: 0 })));
  const redactor = await engine.redactorFor(secretKeys(draft.settings), begin, (sha256) =>
    ports.blobs.get(homeOf(session), sha256),
  );
  const held = members.find(({ key, json }) => redactor.finds(key) || redactor.finds(json));
  if (held === undefined) return;
  const name = JSON.stringify(redactor.mask(held.key));
  throw new Refused(
    `the output's ${name} contains the value of a secret input - leave it out: nodes find it in the context`,
  );
}

/**
 * Returns the label of the edge that a decision takes from now on: `requested`, or the decision in the output. Returns
 * undefined for a node without conditional edges. Throws `Refused` if no edge has that label.
 */
function decisionOf(state: SessionState, id: string, requested: string | undefined, members: readonly engine.Member[]) {
  const own = state.draft.edges.filter(({ from, condition }) => from === id && condition !== undefined);
  const labels = own.map(({ condition }) => conditionLabel(condition));
  if (labels.length === 0) return undefined;
  const json = members.find(({ key }) => key === "branch_decision")?.json;
  const label = requested ?? (json === undefined ? undefined : conditionLabel(JSON.parse(json)));
  const known = state.nodes[id]?.outcome?.decision;
  const found = [label, label === undefined ? known : defaultLabel].find(
    (one) => one !== undefined && labels.includes(one),
  );
  if (found !== undefined) return found;
  throw new Refused(
    `the output does not name the edge that "${id}" takes - send "decision" as one of ${labels.join(", ")}`,
  );
}

function parseMembers(set: engine.OutcomeAt["set"]) {
  return Object.fromEntries(set.map(({ key, json }) => [key, engine.parsedOrNot(json)]));
}

/**
 * Returns the output as an object of context keys. If the node sets only one key, the output may be just the value of
 * that key.
 */
function outputText(node: DraftNode, output: string, before: engine.OutcomeAt | undefined): string {
  const isText = node.executor === "text";
  const into = typeof node.into === "string" ? node.into : isText ? node.id : undefined;
  const keys = (before?.set ?? []).map(({ key }) => key);
  const only = into ?? (keys.length === 1 ? keys[0] : undefined);
  if (isText && only !== undefined) return engine.objectText([{ key: only, json: output }]);
  if (output.startsWith("{")) return output;
  if (only !== undefined) return engine.objectText([{ key: only, json: output }]);
  throw new Refused(`the output of "${node.id}" is an object: keys of the context with their values - send one`);
}
