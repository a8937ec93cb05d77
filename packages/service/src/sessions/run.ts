import { type Member, membersOf, objectText, startExecution } from "@nova/engine";
import { mappingKey, startOf } from "@nova/workflow";
import { recordDeed } from "../audit/audit.ts";
import { demandClient } from "../clients/clients.ts";
import { demandClientAfterStart } from "../erasing/erase-run.ts";
import { Conflict } from "../errors.ts";
import { untilEnded } from "../executions/execute.ts";
import type { Client } from "../ports/clients.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import type { RunBasis, Session, SessionRun, SessionState } from "../ports/sessions.ts";
import { demandBudget } from "../quotas/pools.ts";
import { startOrQueue } from "../quotas/queue.ts";
import { draftId, findWorkflow } from "../workflows/find.ts";
import { sha256Of } from "./draft.ts";
import { buildDraftGraph } from "./draft-graph.ts";
import { buildRunBases, judgeFreshness, outcomeId, stateAround } from "./freshness.ts";
import { sourceOfPart } from "./part.ts";
import {
  type AloneRequest,
  type Plan,
  type Prepared,
  prepareAlone,
  preparePassing,
  prepareStale,
} from "./prepare-run.ts";
import { prepareDraftVersion } from "./publish.ts";
import { changeSession, restoreSession } from "./record.ts";
import { shortList } from "./scope.ts";
import { readSession } from "./sessions.ts";
import { documentPlace, homeOf, sessionOutputs } from "./view.ts";

/** The result of a request to run; the run may be unnecessary. */
export interface StartedRun {
  session: Session;
  /** The id of the execution; null if all nodes are fresh, so nothing runs. */
  execution: string | null;
  /** Nodes that should run, in order; decisions may lead past some of them. */
  runs: string[];
  /** Nodes whose outcomes are reused. */
  reused: string[];
  /** The state of the session before this request, without the changes that the request makes to the session. */
  before: SessionState;
}

/**
 * Runs the stale part of the draft as an execution that starts with the outcomes of the fresh nodes before that part.
 * After an edit of the last of a hundred nodes, a run thus executes one node. Fresh nodes on branches next to stale
 * nodes are part of the execution, with their recorded outcomes. `inputs` replaces keys of the initial context. Throws
 * `NotFound`, `Refused` with the findings of a draft that cannot run, and `Conflict` while an execution of the session
 * is open. After an error, the session is unchanged.
 */
export function runStale(
  ports: ServicePorts,
  by: Principal,
  id: string,
  { ulid, inputs }: { ulid: string; inputs?: string },
): Promise<StartedRun> {
  return prepareAndStart(ports, by, id, { ulid, prepare: (session) => prepareStale(ports, session, inputs) });
}

/**
 * Runs one node with the latest outcomes of the nodes before it, fresh or stale, or with values that the caller sends.
 * Throws as `runStale` does.
 */
export function runAlone(
  ports: ServicePorts,
  by: Principal,
  id: string,
  { ulid, ...request }: AloneRequest & { ulid: string },
): Promise<StartedRun> {
  const prepare = (session: Session) =>
    request.passing
      ? preparePassing(ports, session, { ...request, passing: request.passing })
      : prepareAlone(ports, by, session, request);
  return prepareAndStart(ports, by, id, { ulid, node: request.node, prepare });
}

interface Wanted {
  ulid: string;
  /** The node to run alone; absent: all stale nodes. */
  node?: string;
  prepare(session: Session): Promise<Prepared>;
}

async function prepareAndStart(ports: ServicePorts, by: Principal, id: string, { ulid, node, prepare }: Wanted) {
  const requestedId = `exec_${ulid}`;
  const { session, answer } = await changeSession<Answer>(ports, by, id, async (session) => {
    const [open] = session.state.runs.filter(({ execution }) => execution !== requestedId);
    if (open)
      throw new Conflict(
        `execution ${open.execution} of the session is still running - wait for its end, or cancel it, and then run it`,
      );
    const { state, draft = state.draft, done, plan: planned } = await prepare(session);
    const before = session.state;
    const describe = (what: string) => ({ what: [what, ...done].join("; "), ...(node !== undefined && { node }) });
    if (!planned) return { state, ...describe("a run found nothing stale"), answer: { before, planned, session } };
    const client = await demandClient(ports, by, session.client);
    await demandBudget(ports, client);
    const changed = { ...session, state };
    const source = sourceOfPart(draft, planned.part, {
      id: draftId(session),
      isRecorded: (one) => planned.outcomes.has(one),
      keys: keysOf(planned, state.context),
    });
    const { version, published } = await prepareDraftVersion(ports, changed, source);
    const { root, last } = state.family ?? { root: homeOf(session).root };
    const execution = last === undefined && requestedId !== root ? root : requestedId;
    const around = node === undefined ? state : stateAround(state, node);
    const draftGraph = buildDraftGraph(around.draft);
    const all = judgeFreshness(around, draftGraph);
    const isOfOneRound = node !== undefined && draftGraph.afterLoops.has(node);
    const others = [...all.keys()].filter((one) => !planned.runs.includes(one));
    const run: SessionRun = {
      execution,
      at: new Date(ports.clock.now()).toISOString(),
      by: by.id,
      nodes: withExtra(buildRunBases(around, draftGraph, planned.runs), isOfOneRound, planned.extra),
      given: Object.fromEntries(others.map((one) => [one, outcomeId(all.get(one))])),
    };
    return {
      state: { ...state, published, runs: [run], family: { root, last: execution } },
      ...describe(`${execution} started to run ${shortList(planned.runs, 5)}`),
      answer: { before, planned, session: changed, begun: { execution, version, root, after: last, client } },
    };
  });
  const { planned, begun, session: prepared, before } = answer;
  if (!planned || !begun)
    return { session, before, execution: null, runs: [], reused: [...buildDraftGraph(session.state.draft).order] };
  try {
    await startRun(ports, by, prepared, planned, begun);
  } catch (error) {
    if (!(await ports.executions.get(begun.execution))) await restoreSession(ports, by, { session, before });
    throw error;
  }
  const detail = { execution: begun.execution, ...(node !== undefined && { node }) };
  await recordDeed(ports, by, { action: "session.run", client: session.client, subject: id, detail });
  return { session, before, execution: begun.execution, runs: planned.runs, reused: planned.reused };
}

/** Keys of the context that a prompt may name, in addition to nodes. */
function keysOf({ extra = [] }: Plan, context: string): string[] {
  const mapping = extra.find(({ key }) => key === mappingKey)?.json ?? "{}";
  const names = mapping.startsWith("{") ? membersOf(mapping).map(({ key }) => key) : [];
  return [...membersOf(context), ...extra].map(({ key }) => key).concat(names);
}

/**
 * Changes the inputs of outcomes so that they are stale immediately, in two cases. Either the outcomes used values that
 * the caller sent for one run only, or their nodes are in or after a loop and ran alone. A run of the whole draft would
 * not have these values, and its loops may have several rounds.
 */
function withExtra(bases: Record<string, RunBasis>, isOfOneRound: boolean, extra: readonly Member[] = []) {
  if (extra.length === 0 && !isOfOneRound) return bases;
  const definition = sha256Of(extra);
  return Object.fromEntries(Object.entries(bases).map(([node, basis]) => [node, { ...basis, definition }]));
}

interface Answer {
  before: SessionState;
  session: Session;
  planned: Plan | null;
  begun?: RunStart;
}

type Version = Awaited<ReturnType<typeof prepareDraftVersion>>["version"];

interface RunStart {
  execution: string;
  version: Version;
  root: string;
  after: string | undefined;
  client: Client | undefined;
}

async function startRun(
  ports: ServicePorts,
  by: Principal,
  { client, state, createdBy, createdAt }: Session,
  { context, outcomes: recorded }: Plan,
  { execution: id, version, root, after, client: record }: RunStart,
): Promise<void> {
  const empty = { source: { by: createdBy, at: createdAt, set: "{}" } };
  const places = Array.from(recorded, ([node, values]) => ({
    key: node,
    json: documentPlace(values, state.nodes[node]?.outcome ?? empty),
  }));
  const outcomes = {
    document: objectText([...startOutcome(version, state.context), ...places]),
    root,
    ...(after !== undefined && { after }),
    set: context.slots().map(({ key, json }) => ({ key, json })),
  };
  const { quotas, isPaused } = await findWorkflow(ports, version.workflowId, version.version);
  const counted = { workflow: version.workflowId, client, ofWorkflow: quotas, ofClient: record?.quotas, isPaused };
  const begun = await startOrQueue(ports, counted, (queue) =>
    startExecution(ports, { id, version, context: "{}", client, outcomes, starter: by.person, ...queue }),
  );
  await demandClientAfterStart(ports, by, begun);
}

/**
 * Returns the outcome of the start node. A run needs it, because `outputs` of the workflow may refer to it. The outcome
 * holds the initial context, without outcomes of earlier nodes.
 */
function startOutcome({ workflow }: Version, context: string): Member[] {
  const start = startOf(workflow);
  const set = membersOf(context).filter(({ key }) => !key.startsWith("$"));
  return start ? [{ key: start.id, json: objectText([{ key: "set", json: objectText(set) }]) }] : [];
}

/** Waits until a run of a session has ended, for at most `waitMs`, and returns its state. Throws `NotFound`. */
export async function readSessionRun(
  ports: ServicePorts,
  by: Principal,
  id: string,
  { execution, runs }: Pick<StartedRun, "execution" | "runs">,
  waitMs: number,
) {
  const record = execution === null ? undefined : await untilEnded(ports, execution, waitMs);
  const session = await readSession(ports, by, id);
  const ran = runs.filter((node) => {
    const source = session.state.nodes[node]?.outcome?.source;
    return source && "hash" in source && source.execution === execution;
  });
  return { session, record, ran, outputs: ran.length === 0 ? [] : await sessionOutputs(ports, session, ran) };
}
