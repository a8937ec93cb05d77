import { type Member, membersOf, objectText, startExecution } from "@nova/engine";
import { mappingKey, startOf } from "@nova/workflow";
import { recordDeed } from "../audit/audit.ts";
import { demandClient } from "../clients/clients.ts";
import { demandClientStill } from "../erasing/erase-run.ts";
import { Conflict } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { Client } from "../ports/clients.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { RunBasis, Session, SessionRun, SessionState } from "../ports/sessions.ts";
import { demandBudget } from "../quotas/month.ts";
import { startOrQueue } from "../quotas/queue.ts";
import { draftId } from "../workflows/draft-id.ts";
import { findWorkflow } from "../workflows/find.ts";
import { sha256Of, shortList } from "./draft.ts";
import { draftVersion } from "./drafts.ts";
import { sourceOfPart } from "./part.ts";
import type { Plan } from "./plan.ts";
import { type AloneRequest, type Prepared, prepareAlone, preparePassing, prepareStale } from "./prepare-run.ts";
import { changing } from "./record.ts";
import { restoreSession } from "./restore.ts";
import { shapeOf } from "./shape.ts";
import { outcomeId, runBases, standings } from "./standing.ts";
import { documented, homeOf } from "./values.ts";

/** A run of a session that was started, or not. */
export interface Begun {
  session: Session;
  /** Null where everything is fresh, so nothing runs. */
  execution: string | null;
  /** Nodes that run, in order; those on a way that is not taken do not. */
  runs: string[];
  /** Nodes whose outcomes are taken over. */
  reused: string[];
  /** Of the session without the changes that came with the run. */
  before: SessionState;
}

/**
 * Runs what is stale, in order: an execution of that part of the draft, which begins with what the fresh nodes before it
 * have left. So a run after an edit of the last of a hundred nodes is an execution of one. Fresh nodes beside stale ones
 * are in it, and their outcomes on record. `inputs` replaces keys of the context that every run starts with. Throws
 * `NotFound`; `Refused` with the findings of a draft that cannot run; `Conflict` while an execution of the session goes
 * on. A run that throws leaves the session as it was.
 */
export function runStale(
  ports: ServicePorts,
  by: Principal,
  id: string,
  { ulid, inputs }: { ulid: string; inputs?: string },
): Promise<Begun> {
  return begin(ports, by, id, { ulid, prepare: (session) => prepareStale(ports, session, inputs) });
}

/**
 * Runs one node, whatever the state of those before it, with what they have come to last, or with what the caller says
 * that they have. Throws as `runStale`.
 */
export function runAlone(
  ports: ServicePorts,
  by: Principal,
  id: string,
  { ulid, ...request }: AloneRequest & { ulid: string },
): Promise<Begun> {
  const prepare = (session: Session) =>
    request.passing
      ? preparePassing(ports, session, { ...request, passing: request.passing })
      : prepareAlone(ports, by, session, request);
  return begin(ports, by, id, { ulid, node: request.node, prepare });
}

interface Wanted {
  ulid: string;
  /** Alone. */
  node?: string;
  prepare(session: Session): Promise<Prepared>;
}

async function begin(ports: ServicePorts, by: Principal, id: string, { ulid, node, prepare }: Wanted): Promise<Begun> {
  const wished = `exec_${ulid}`;
  const { session, answer } = await changing<Answer>(ports, by, id, async (session) => {
    const [open] = session.state.runs.filter(({ execution }) => execution !== wished);
    if (open)
      throw new Conflict(
        `execution ${open.execution} of the session goes on - wait for its end, or cancel it, and run it then`,
      );
    const { state, draft = state.draft, done, plan: planned } = await prepare(session);
    const before = session.state;
    const told = (what: string) => ({ what: [what, ...done].join("; "), ...(node !== undefined && { node }) });
    if (!planned) return { state, ...told("a run found nothing stale"), answer: { before, planned, session } };
    const client = await demandClient(ports, by, session.client);
    await demandBudget(ports, client);
    const changed = { ...session, state };
    const { version, published } = await draftVersion(
      ports,
      changed,
      sourceOfPart(draft, planned.part, {
        id: draftId(session),
        isRecorded: (one) => planned.given.has(one),
        keys: keysOf(planned, state.context),
      }),
    );
    const { root, last } = state.family ?? { root: homeOf(session).root };
    const execution = last === undefined && wished !== root ? root : wished;
    const all = standings(state, shapeOf(state.draft));
    const others = [...all.keys()].filter((one) => !planned.runs.includes(one));
    const run: SessionRun = {
      execution,
      at: new Date(ports.clock.now()).toISOString(),
      by: by.id,
      nodes: withExtra(runBases(state, shapeOf(state.draft), planned.runs), planned.extra),
      given: Object.fromEntries(others.map((one) => [one, outcomeId(all.get(one))])),
    };
    return {
      state: { ...state, published, runs: [run], family: { root, last: execution } },
      ...told(`${execution} began to run ${shortList(planned.runs, 5)}`),
      answer: { before, planned, session: changed, begun: { execution, version, root, after: last, client } },
    };
  });
  const { planned, begun, session: prepared, before } = answer;
  if (!planned || !begun)
    return { session, before, execution: null, runs: [], reused: [...shapeOf(session.state.draft).order] };
  try {
    await start(ports, by, prepared, planned, begun);
  } catch (error) {
    if (!(await ports.executions.get(begun.execution))) await restoreSession(ports, by, { session, before });
    throw error;
  }
  const detail = { execution: begun.execution, ...(node !== undefined && { node }) };
  await recordDeed(ports, by, { action: "session.run", client: session.client, subject: id, detail });
  return { session, before, execution: begun.execution, runs: planned.runs, reused: planned.reused };
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
  before: SessionState;
  /** With what the run has changed. */
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
  client: Client | undefined;
}

async function start(
  ports: ServicePorts,
  by: Principal,
  { client, state, createdBy, createdAt }: Session,
  { context, given }: Plan,
  { execution: id, version, root, after, client: record }: Beginning,
): Promise<void> {
  const empty = { source: { by: createdBy, at: createdAt, set: "{}" } };
  const places = Array.from(given, ([node, values]) => ({
    key: node,
    json: documented(values, state.nodes[node]?.outcome ?? empty),
  }));
  const outcomes = {
    document: objectText([...initialOutcome(version, state.context), ...places]),
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
