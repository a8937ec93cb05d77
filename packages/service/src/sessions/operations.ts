import type { Finding } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import { Refused } from "../errors.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import type { DraftEdge, DraftNode, Session, SessionState } from "../ports/sessions.ts";
import { validateWorkflow } from "../publishing/publish.ts";
import { describeRemoval, edgeName, sized, withEdge, withNode, withoutEdge, withoutNode } from "./draft.ts";
import { buildDraftGraph } from "./draft-graph.ts";
import { redactSettings, withUnseen } from "./draft-triggers.ts";
import { applyNodeChanges, demandSecrets, withDraft } from "./edit.ts";
import { demandNode, sourceOfWhole } from "./part.ts";
import { changeSession, demandUnchanged, type ExpectedVersions } from "./record.ts";
import { draftAround } from "./scope.ts";

/** One step of a change of a draft. In `changes`, null removes a field. */
export type DraftOperation =
  /** `map` names the map that gets the node; absent: the draft gets it. */
  | { op: "add_node"; node: DraftNode; map?: string }
  | { op: "change_node"; id: string; changes: Readonly<Record<string, unknown>> }
  | { op: "remove_node"; id: string }
  | ({ op: "add_edge" } & DraftEdge)
  | ({ op: "remove_edge" } & DraftEdge)
  | { op: "change_settings"; changes: Readonly<Record<string, unknown>> };

/**
 * Applies one operation to a draft. All edits of a draft throw `NotFound`, `Refused`, and `Conflict` if the session or
 * the node has changed since the caller read the `expected` versions.
 */
export async function applyToDraft(
  ports: ServicePorts,
  by: Principal,
  id: string,
  operation: DraftOperation,
  expected: ExpectedVersions = {},
): Promise<Session> {
  const { session } = await changeSession(ports, by, id, async (session) => {
    demandUnchanged(session, expected, "id" in operation ? operation.id : undefined);
    const { state, ...change } = await applyOperation(by, session.state, operation);
    // Copies the state, so that an edit without changes makes a new revision, too.
    return { ...change, state: { ...state }, answer: undefined };
  });
  return session;
}

/**
 * Applies all operations to a draft, in order, or none of them. `revision` is the revision that the caller has read.
 * Throws `NotFound`, `Conflict`, `Refused`; the message names the number of the operation.
 */
export async function editDraft(
  ports: ServicePorts,
  by: Principal,
  id: string,
  operations: readonly DraftOperation[],
  expected: { revision?: number },
): Promise<Session> {
  const { session } = await changeSession(ports, by, id, async (session) => {
    demandUnchanged(session, expected);
    let { state } = session;
    const done: string[] = [];
    for (const [index, operation] of operations.entries()) {
      const applied = await applyOperation(by, state, operation).catch((error: Error) => {
        error.message = `operation ${index + 1} of ${operations.length}: ${error.message}`;
        throw error;
      });
      ({ state } = applied);
      done.push(applied.what);
    }
    return { state, what: done.join("; "), answer: undefined };
  });
  return session;
}

async function applyOperation(
  by: Principal,
  state: SessionState,
  operation: DraftOperation,
): Promise<{ state: SessionState; what: string; node?: string }> {
  const { draft } = state;
  if (operation.op === "add_node") {
    const { node, map } = operation;
    const changed = withNode(draft, node, map);
    await demandNode(draftAround(changed, node.id), node);
    return { state: withDraft(state, changed), node: node.id, what: `node "${node.id}" was added` };
  }
  if (operation.op === "change_node") {
    const { id, changes } = operation;
    if (changes.id !== undefined && changes.id !== id)
      throw new Refused(`node "${id}" keeps its id - add one with the other id, and delete this one`);
    const { state: changed, fields } = await applyNodeChanges(state, id, changes);
    return { state: changed, node: id, what: `node "${id}" was changed: ${fields.join(", ") || "nothing"}` };
  }
  if (operation.op === "remove_node") {
    const { draft: left, removed } = withoutNode(draft, operation.id);
    return { state: withDraft(state, left), what: describeRemoval(removed) };
  }
  if (operation.op === "change_settings") {
    const seen = redactSettings(by, draft.settings);
    const settings = withUnseen(by, draft.settings, withChangedSettings(seen, operation.changes));
    demandSecrets(state, { settings });
    const fields = Object.keys(operation.changes).join(", ") || "none";
    return { state: withDraft(state, sized({ ...draft, settings })), what: `settings were changed: ${fields}` };
  }
  const { op, from, to, condition, max } = operation;
  const edge = { from, to, ...defined({ condition, max }) };
  return op === "add_edge"
    ? { state: withDraft(state, withEdge(draft, edge)), what: `${edgeName(edge)} was added` }
    : { state: withDraft(state, withoutEdge(draft, edge)), what: `${edgeName(edge)} was deleted` };
}

/** The fields of a workflow that are not settings of a draft. Each value says how a user changes the field instead. */
const noSettings: Readonly<Record<string, string>> = {
  id: "the workflow under which it is published decides",
  name: "the session has a name",
  nodes: "use add_node, change_node and remove_node",
  edges: "use add_edge and remove_edge",
};

/** Settings that a published workflow keeps if the draft has none, with the values that remove them. */
const removals = new Map<string, unknown>(Object.entries({ triggers: [], on_failure: {} }));

function withChangedSettings(before: Readonly<Record<string, unknown>>, changes: Readonly<Record<string, unknown>>) {
  const wrong = Object.keys(changes).find((name) => Object.hasOwn(noSettings, name));
  if (wrong !== undefined) throw new Refused(`"${wrong}" is no setting - ${noSettings[wrong]}`);
  const changed = Object.entries(changes).map(([name, value]) => [name, value ?? removals.get(name) ?? null] as const);
  const all = { ...before, ...Object.fromEntries(changed) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
}

/** Returns all findings that a publication of the draft would report. */
export async function findDraftProblems(ports: ServicePorts, by: Principal, session: Session): Promise<Finding[]> {
  const { draft, workflow } = session.state;
  const named = { name: session.name, ...defined({ id: workflow }) };
  return (await validateWorkflow(ports, by, sourceOfWhole(draft, buildDraftGraph(draft), named))).findings;
}
