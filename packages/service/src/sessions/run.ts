import { Context, membersOf, type OutcomeAt, objectText, startExecution } from "@nova/engine";
import type { WorkflowSource } from "@nova/workflow";
import { recordDeed } from "../audit/audit.ts";
import { demandClient } from "../clients/clients.ts";
import { demandClientStill } from "../erasing/erase-run.ts";
import { Conflict, Refused } from "../errors.ts";
import type { Principal } from "../ports/access.ts";
import type { ServicePorts } from "../ports/index.ts";
import type { Session, SessionRun } from "../ports/sessions.ts";
import { demandBudget } from "../quotas/month.ts";
import { startOrQueue } from "../quotas/queue.ts";
import { findWorkflow } from "../workflows/find.ts";
import { contextBefore, frontOf } from "./compose.ts";
import { nodeOf, shortList } from "./draft.ts";
import { draftId, draftVersion } from "./drafts.ts";
import { type Part, partAlone, partFrom, sourceOfPart, withRecordedMaps } from "./part.ts";
import { changing } from "./record.ts";
import { type Shape, shapeOf } from "./shape.ts";
import { outcomeId, runBases, type Standing, standings } from "./standing.ts";
import { documented, homeOf, valuesOfAll } from "./values.ts";

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

/** What is to run, and what it finds. */
interface Plan {
  source: WorkflowSource;
  runs: string[];
  reused: string[];
  context: Context;
  /** What nodes have come to that do not run, by their ids. */
  given: ReadonlyMap<string, OutcomeAt>;
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

/** Runs one node, whatever the state of those before it, with what they have come to last. Throws as `runStale`. */
export async function runAlone(
  ports: ServicePorts,
  by: Principal,
  id: string,
  ulid: string,
  node: string,
): Promise<Begun> {
  return begin(ports, by, id, { ulid, node, plan: (session, stand) => onePart(session, stand, node) });
}

/** A session as a run finds it. */
interface Stand {
  shape: Shape;
  standings: ReadonlyMap<string, Standing>;
  values: ReadonlyMap<string, OutcomeAt>;
}

async function standOf(ports: ServicePorts, { state }: Session): Promise<Stand> {
  const shape = shapeOf(state.draft);
  const all = standings(state, shape);
  const values = await valuesOfAll(
    ports,
    Array.from(all, ([id, { outcome }]) => [id, outcome] as const),
  );
  return { shape, standings: all, values };
}

function stalePart({ state, ...session }: Session, { shape, standings, values }: Stand): Plan | null {
  const [problem] = shape.findings.filter(({ severity }) => severity === "error");
  if (!shape.graph) throw new Refused(problem?.message ?? "the draft has no node that could run", shape.findings);
  const isFresh = (id: string) => standings.get(id)?.state === "fresh" && values.has(id);
  const counting = (id: string) => (isFresh(id) && !standings.get(id)?.isSkipped ? values.get(id) : undefined);
  const begin = contextOf(state.context);
  const front = frontOf(shape.graph, counting, begin);
  if (!front) return null;
  const part = partFrom(state.draft, shape, front);
  const reused = [...front.passed, ...part.steps.filter((id) => counting(id))];
  const runs = part.steps.filter((id) => !counting(id) && !standings.get(id)?.isSkipped);
  const source = sourceOfPart(
    state.draft,
    withRecordedMaps(part, (id) => counting(id) !== undefined),
    draftId(session),
  );
  return { source, runs, reused: inOrder(reused, shape), context: front.context, given: pick(reused, values) };
}

function onePart({ state, ...session }: Session, { shape, values }: Stand, id: string): Plan {
  const node = nodeOf(state.draft, id);
  if (!shape.before.has(id)) throw new Refused(`node "${id}" is of type ${node.type}, which does nothing by itself`);
  const begin = contextOf(state.context);
  const front = shape.graph && contextBefore(shape.graph, id, (one) => values.get(one), begin);
  const { context = begin, passed = [] } = front ?? {};
  const part: Part = partAlone(shape, node);
  const source = sourceOfPart(state.draft, part, draftId(session));
  return { source, runs: [id], reused: inOrder(passed, shape), context, given: pick(passed, values) };
}

function contextOf(text: string): Context {
  return new Context().apply({ set: membersOf(text), delete: [] }, 0);
}

function inOrder(ids: readonly string[], { order }: Shape): string[] {
  const wanted = new Set(ids);
  return order.filter((id) => wanted.has(id));
}

function pick<T>(ids: readonly string[], all: ReadonlyMap<string, T>): Map<string, T> {
  return new Map(ids.flatMap((id) => (all.has(id) ? [[id, all.get(id) as T] as const] : [])));
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
    const { version, published } = await draftVersion(ports, session, planned.source);
    const { root, last } = state.family ?? { root: homeOf(session).root };
    const execution = last === undefined && wished !== root ? root : wished;
    const all = [...stand.standings.keys()].filter((one) => !planned.runs.includes(one));
    const run: SessionRun = {
      ...{ execution, at: new Date(ports.clock.now()).toISOString(), by: by.id },
      nodes: runBases(state, stand.shape, planned.runs),
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
    document: objectText(places.flat()),
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

async function withoutRun(ports: ServicePorts, by: Principal, id: string, execution: string): Promise<void> {
  const record = await ports.executions.get(execution);
  if (record) return;
  await changing(ports, by, id, ({ state }) => ({
    state: { ...state, runs: state.runs.filter((run) => run.execution !== execution) },
    what: `${execution} could not begin`,
    answer: undefined,
  }));
}
