import { type Member, membersOf } from "@nova/engine";
import { currentNodeKey } from "@nova/workflow";
import { withVariables } from "../clients/clients.ts";
import { Refused } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Draft, DraftNode, Session, SessionState } from "../ports/sessions.ts";
import { applyContextData, contextMembers } from "./context-data.ts";
import { shortList, withNode } from "./draft.ts";
import { buildDraftGraph } from "./draft-graph.ts";
import { applyNodeChanges } from "./edit.ts";
import { type Plan, planOneNode, planStaleNodes, readSnapshot } from "./plan.ts";

/** A planned run, and the session's state for it. Both are stored together. */
export interface Prepared {
  state: SessionState;
  /** Absent if it is the draft of `state`. */
  draft?: Draft;
  /** Descriptions of the changes, for other editors. */
  done: string[];
  /** Null if nothing is stale. */
  plan: Plan | null;
}

export async function prepareStale(ports: ServicePorts, session: Session, inputs?: string): Promise<Prepared> {
  const before = session.state.context;
  const context = inputs === undefined ? before : replaceInputs(before, inputs);
  const state = context === before ? session.state : { ...session.state, context };
  const plan = planStaleNodes({ state }, await readSnapshot(ports, { ...session, state }));
  return { state, done: context === before ? [] : ["the context was changed"], plan };
}

/** Returns `context` itself if no value differs. Throws `Refused`. */
function replaceInputs(context: string, inputs: string): string {
  const sent = membersOf(inputs);
  const mark = sent.find(({ key }) => key.startsWith("$"));
  if (mark)
    throw new Refused(`the inputs have the key "${mark.key}" - such keys mark NOVA's references: use another name`);
  const before = new Map(membersOf(context).map(({ key, json }) => [key, json]));
  return sent.every(({ key, json }) => before.get(key) === json) ? context : withVariables(context, inputs);
}

export interface AloneRequest {
  node: string;
  /** JSON text of an object; see `applyContextData`. */
  contextData?: string;
  /** New fields of the node, kept after this run. */
  changes?: Readonly<Record<string, unknown>>;
  /** Fields of a node outside the draft, which runs once under the id `node`. */
  passing?: Omit<DraftNode, "id">;
}

export async function prepareAlone(
  ports: ServicePorts,
  by: Principal,
  session: Session,
  { node, contextData = "{}", changes }: AloneRequest,
): Promise<Prepared> {
  const changed = changes ? await applyNodeChanges(session.state, node, changes) : { state: session.state, fields: [] };
  const { state, written, extra } = await applyContextData(
    ports,
    by,
    { ...session, state: changed.state },
    { node, contextData },
  );
  const done = [
    ...(changed.fields.length > 0 ? [`its ${changed.fields.join(", ")} were changed`] : []),
    ...(written.length > 0 ? [`the outputs of ${shortList(written)} were written by hand`] : []),
  ];
  const planned = planOneNode({ state }, await readSnapshot(ports, { ...session, state }), node);
  return { state, done, plan: addMembers(planned, extra) };
}

export async function preparePassing(
  ports: ServicePorts,
  session: Session,
  { node: id, passing, contextData = "{}" }: AloneRequest & Required<Pick<AloneRequest, "passing">>,
): Promise<Prepared> {
  const { state } = session;
  const draft = withNode(state.draft, { ...passing, id } as DraftNode);
  const stand = { ...(await readSnapshot(ports, session)), draftGraph: buildDraftGraph(draft) };
  const extra = contextMembers(contextData).filter(({ key }) => key !== currentNodeKey);
  return { state, draft, done: [], plan: addMembers(planOneNode({ state: { ...state, draft } }, stand, id), extra) };
}

function addMembers(planned: Plan, extra: readonly Member[]): Plan {
  if (extra.length === 0) return planned;
  return { ...planned, context: planned.context.apply({ set: [...extra], delete: [] }, 0), extra };
}
