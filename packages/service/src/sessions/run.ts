import { type Member, membersOf, objectText, startExecution } from "@nova/engine";
import { mappingKey, startOf } from "@nova/workflow";
import { recordDeed } from "../audit/audit.ts";
import { demandClient } from "../clients/clients.ts";
import { demandClientStill } from "../erasing/erase-run.ts";
import { Conflict } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { DraftNode, RunBasis, Session, SessionRun } from "../ports/sessions.ts";
import { demandBudget } from "../quotas/month.ts";
import { startOrQueue } from "../quotas/queue.ts";
import { draftId } from "../workflows/draft-id.ts";
import { findWorkflow } from "../workflows/find.ts";
import { writeContextData } from "./context-data.ts";
import { sha256Of, shortList, withNode } from "./draft.ts";
import { draftVersion } from "./drafts.ts";
import { sourceOfPart } from "./part.ts";
import { onePart, type Plan, type Stand, stalePart, standOf } from "./plan.ts";
import { changing } from "./record.ts";
import { shapeOf } from "./shape.ts";
import { outcomeId, runBases } from "./standing.ts";
import { documented, homeOf } from "./values.ts";

/** What a run of a session has begun, or has not. */
export interface Begun {
  session: Session;
  /** Null where everything is fresh, so nothing runs. */
  execution: string | null;
  /** Nodes that run, in order; those on a way that is not taken do not. */
  runs: string[];
  /** Nodes whose outcomes are taken over. */
  reused: string[];
}

/**
 * Runs what is stale, in order: an execution of that part of the draft, which begins with what the fresh nodes before it
 * have left. So a run after an edit of the last of a hundred nodes is an execution of one. Fresh nodes beside stale ones
 * are in it, and their outcomes on record. Throws `NotFound`; `Refused` with the findings of a draft that cannot run;
 * `Conflict` while an execution of the session goes on.
 */
export async function runStale(ports: ServicePorts, by: Principal, id: string, ulid: string): Promise<Begun> {
  return begin(ports, by, id, { ulid, plan: stalePart });
}

export interface AloneRequest {
  ulid: string;
  node: string;
  /** JSON text of an object: see `writeContextData`. */
  contextData?: string;
  /** The node, where it is none of the draft: it runs this once. */
  passing?: DraftNode;
}

/**
 * Runs one node, whatever the state of those before it, with what they have come to last, or with what the caller says
 * that they have. Throws as `runStale`.
 */
export async function runAlone(
  ports: ServicePorts,
  by: Principal,
  id: string,
  { ulid, node, contextData, passing }: AloneRequest,
): Promise<Begun> {
  const extra =
    contextData === undefined
      ? []
      : await writeContextData(ports, by, id, { node, isPassing: passing !== undefined, contextData });
  const plan: Wanted["plan"] = ({ state }, stand) => {
    const draft = passing ? withNode(state.draft, passing) : state.draft;
    const planned = onePart(
      { state: { ...state, draft } },
      passing ? { ...stand, shape: shapeOf(draft) } : stand,
      node,
    );
    const context = planned.context.apply({ set: [...extra], delete: [] }, 0);
    return extra.length > 0 ? { ...planned, context, extra } : planned;
  };
  return begin(ports, by, id, { ulid, node, plan });
}

interface Wanted {
  ulid: string;
  /** Alone. */
  node?: string;
  plan(session: Session, stand: Stand): Plan | null;
}

async function begin(ports: ServicePorts, by: Principal, id: string, { ulid, node, plan }: Wanted): Promise<Begun> {
  const wished = `exec_${ulid}`;
  const { session, answer } = await changing<Answer>(ports, by, id, async (session) => {
    const { state } = session;
    const [open] = state.runs.filter(({ execution }) => execution !== wished);
    if (open)
      throw new Conflict(
        `execution ${open.execution} of the session goes on - wait for its end, or cancel it, and run it then`,
      );
    const stand = await standOf(ports, session);
    const planned = plan(session, stand);
    if (!planned) return { state, what: "a run found nothing stale", answer: { planned, session } };
    const { version, published } = await draftVersion(
      ports,
      session,
      sourceOfPart(state.draft, planned.part, {
        id: draftId(session),
        isRecorded: (one) => planned.given.has(one),
        keys: keysOf(planned, state.context),
      }),
    );
    const { root, last } = state.family ?? { root: homeOf(session).root };
    const execution = last === undefined && wished !== root ? root : wished;
    const all = [...stand.standings.keys()].filter((one) => !planned.runs.includes(one));
    const run: SessionRun = {
      ...{ execution, at: new Date(ports.clock.now()).toISOString(), by: by.id },
      nodes: withExtra(runBases(state, stand.shape, planned.runs), planned.extra),
      given: Object.fromEntries(all.map((one) => [one, outcomeId(stand.standings.get(one))])),
    };
    return {
      state: { ...state, published, runs: [run], family: { root, last: execution } },
      what: `${execution} began to run ${shortList(planned.runs, 5)}`,
      answer: { planned, session, begun: { execution, version, root, after: last } },
    };
  });
  const { planned, begun, session: before } = answer;
  if (!planned || !begun)
    return { session, execution: null, runs: [], reused: [...shapeOf(session.state.draft).order] };
  try {
    await start(ports, by, before, planned, begun);
  } catch (error) {
    await withoutRun(ports, by, id, begun.execution);
    throw error;
  }
  const detail = { execution: begun.execution, ...(node !== undefined && { node }) };
  await recordDeed(ports, by, { action: "session.run", client: session.client, subject: id, detail });
  return { session, execution: begun.execution, runs: planned.runs, reused: planned.reused };
}

/** What a prompt may name besides nodes. */
function keysOf({ extra = [] }: Plan, context: string): string[] {
  const mapping = extra.find(({ key }) => key === mappingKey)?.json ?? "{}";
  const names = mapping.startsWith("{") ? membersOf(mapping).map(({ key }) => key) : [];
  return [...membersOf(context), ...extra].map(({ key }) => key).concat(names);
}

/** What came of values for one run alone is not what a run of everything would come to: it is stale at once. */
function withExtra(bases: Record<string, RunBasis>, extra: readonly Member[] = []): Record<string, RunBasis> {
  if (extra.length === 0) return bases;
  const definition = sha256Of(extra);
  return Object.fromEntries(Object.entries(bases).map(([node, basis]) => [node, { ...basis, definition }]));
}

interface Answer {
  session: Session;
  planned: Plan | null;
  begun?: Beginning;
}

type Version = Awaited<ReturnType<typeof draftVersion>>["version"];

interface Beginning {
  execution: string;
  version: Version;
  /** The first execution of the family. */
  root: string;
  /** The one before. */
  after: string | undefined;
}

async function start(
  ports: ServicePorts,
  by: Principal,
  { client, state }: Session,
  { context, given }: Plan,
  { execution: id, version, root, after }: Beginning,
): Promise<void> {
  const record = await demandClient(ports, by, client);
  await demandBudget(ports, record);
  const places = Array.from(given, ([node, values]) => {
    const outcome = state.nodes[node]?.outcome;
    return outcome ? [{ key: node, json: documented(values, outcome) }] : [];
  });
  const outcomes = {
    document: objectText([...initialOutcome(version, state.context), ...places.flat()]),
    root,
    ...(after !== undefined && { after }),
    set: context.slots().map(({ key, json }) => ({ key, json })),
  };
  const { quotas, isPaused } = await findWorkflow(ports, version.workflowId, version.version);
  const counted = { workflow: version.workflowId, client, ofWorkflow: quotas, ofClient: record?.quotas, isPaused };
  const begun = await startOrQueue(ports, counted, (queue) =>
    startExecution(ports, { id, version, context: "{}", client, outcomes, ...queue }),
  );
  await demandClientStill(ports, by, begun);
}

/** What `outputs` has of the start, whatever the nodes in front of the part have left. */
function initialOutcome({ workflow }: Version, context: string): Member[] {
  const start = startOf(workflow);
  const set = membersOf(context).filter(({ key }) => !key.startsWith("$"));
  return start ? [{ key: start.id, json: objectText([{ key: "set", json: objectText(set) }]) }] : [];
}

async function withoutRun(ports: ServicePorts, by: Principal, id: string, execution: string): Promise<void> {
  const record = await ports.executions.get(execution);
  if (record) return;
  await changing(ports, by, id, ({ state }) => ({
    state: { ...state, runs: state.runs.filter((run) => run.execution !== execution) },
    what: `${execution} could not begin`,
    answer: undefined,
  }));
}
