import { type Member, membersOf } from "@nova/engine";
import { currentNodeKey } from "@nova/workflow";
import { withVariables } from "../clients/clients.ts";
import { Refused } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Draft, DraftNode, Session, SessionState } from "../ports/sessions.ts";
import { contextMembers, withContextData } from "./context-data.ts";
import { shortList, withNode } from "./draft.ts";
import { withNodeChanges } from "./edit.ts";
import { onePart, type Plan, stalePart, standOf } from "./plan.ts";
import { shapeOf } from "./shape.ts";

/** A run, and the session as it is changed for the run: both are written together, or neither. */
export interface Prepared {
  state: SessionState;
  /** Absent if it is the one of the state. */
  draft?: Draft;
  /** The change, in words for a second editor. */
  done: string[];
  /** Null: nothing is stale. */
  plan: Plan | null;
}

export async function prepareStale(ports: ServicePorts, session: Session, inputs?: string): Promise<Prepared> {
  const before = session.state.context;
  const context = inputs === undefined ? before : withInputs(before, inputs);
  const state = context === before ? session.state : { ...session.state, context };
  const plan = stalePart({ state }, await standOf(ports, { ...session, state }));
  return { state, done: context === before ? [] : ["the context was changed"], plan };
}

/** Answers the given text if no value differs. Throws `Refused`. */
function withInputs(context: string, inputs: string): string {
  const given = membersOf(inputs);
  const mark = given.find(({ key }) => key.startsWith("$"));
  if (mark)
    throw new Refused(`the inputs have the key "${mark.key}" - such keys mark NOVA's references: use another name`);
  const before = new Map(membersOf(context).map(({ key, json }) => [key, json]));
  return given.every(({ key, json }) => before.get(key) === json) ? context : withVariables(context, inputs);
}

export interface AloneRequest {
  node: string;
  /** JSON text of an object: see `withContextData`. */
  contextData?: string;
  /** Fields that the node has from this run on. */
  changes?: Readonly<Record<string, unknown>>;
  /** `node` is no node of the draft: it has these fields, and runs once. */
  passing?: Omit<DraftNode, "id">;
}

export async function prepareAlone(
  ports: ServicePorts,
  by: Principal,
  session: Session,
  { node, contextData = "{}", changes }: AloneRequest,
): Promise<Prepared> {
  const changed = changes ? await withNodeChanges(session.state, node, changes) : { state: session.state, fields: [] };
  const { state, written, extra } = await withContextData(
    ports,
    by,
    { ...session, state: changed.state },
    { node, contextData },
  );
  const done = [
    ...(changed.fields.length > 0 ? [`its ${changed.fields.join(", ")} were changed`] : []),
    ...(written.length > 0 ? [`the outputs of ${shortList(written)} were written by hand`] : []),
  ];
  const planned = onePart({ state }, await standOf(ports, { ...session, state }), node);
  return { state, done, plan: withMembers(planned, extra) };
}

export async function preparePassing(
  ports: ServicePorts,
  session: Session,
  { node: id, passing, contextData = "{}" }: AloneRequest & Required<Pick<AloneRequest, "passing">>,
): Promise<Prepared> {
  const { state } = session;
  const draft = withNode(state.draft, { ...passing, id } as DraftNode);
  const stand = { ...(await standOf(ports, session)), shape: shapeOf(draft) };
  const extra = contextMembers(contextData).filter(({ key }) => key !== currentNodeKey);
  return { state, draft, done: [], plan: withMembers(onePart({ state: { ...state, draft } }, stand, id), extra) };
}

function withMembers(planned: Plan, extra: readonly Member[]): Plan {
  if (extra.length === 0) return planned;
  return { ...planned, context: planned.context.apply({ set: [...extra], delete: [] }, 0), extra };
}
