import { isDeepStrictEqual } from "node:util";
import { atOnce, type RunHead, referencesIn, runHeads } from "@nova/engine";
import { defined } from "@nova/workflow/defined";
import { ulid } from "ulid";
import { reaches } from "../access/authenticate.ts";
import { Conflict, NotFound } from "../errors.ts";
import { hasEnded } from "../executions/execute.ts";
import type { Principal, ServicePorts } from "../ports/index.ts";
import type { NodeOutcome, NodeRecord, Session, SessionChange, SessionRun, SessionState } from "../ports/sessions.ts";
import { buildDraftGraph } from "./draft-graph.ts";
import { addOutcomes, type RunOutcome } from "./freshness.ts";

const idPattern = /^ses_[0-9A-HJKMNP-TV-Z]{26}$/;

/**
 * Finds a session. Throws the same `NotFound` if the session has expired, does not exist, or is out of the caller's
 * reach.
 */
export async function sessionWithin(ports: Pick<ServicePorts, "sessions" | "clock">, by: Principal, id: string) {
  const session = idPattern.test(id) ? await ports.sessions.get(id) : undefined;
  if (session && reaches(by, session.client) && Date.parse(session.expiresAt) > ports.clock.now()) return session;
  throw new NotFound(
    `there is no session "${id.slice(0, 40)}" - GET /sessions lists them; they end after retention_days`,
  );
}

/** The result of a change, described for other editors. */
export interface Change<T> {
  state: SessionState;
  what: string;
  node?: string;
  /** The new name of the session; absent: unchanged. */
  name?: string;
  answer: T;
}

const maxTries = 10;

/**
 * Changes a session. If another request changes the session in the meantime, `change` runs again on the new state, so
 * no change is lost. If `change` returns the same state object that it got, the function stores nothing.
 */
export async function changeSession<T>(
  ports: ServicePorts,
  by: Principal,
  id: string,
  change: (session: Session) => Promise<Change<T>> | Change<T>,
): Promise<{ session: Session; answer: T }> {
  for (let tries = 0; tries < maxTries; tries++) {
    const read = await sessionWithin(ports, by, id);
    const session = await settleSession(ports, read);
    const { state, what, node, name = session.name, answer } = await change(session);
    if (state === read.state) return { session, answer };
    const next = recordChange(ports, { ...session, name, state }, by.id, { what, ...defined({ node }) });
    if (await ports.sessions.replace(next, read.revision)) return { session: next, answer };
  }
  throw new Conflict(`session ${id} is being changed by many at once - try again in a moment`);
}

/** The versions that a caller has read and expects to be unchanged. */
export interface ExpectedVersions {
  version?: number;
  revision?: number;
}

/**
 * Throws `Conflict` if the session or the node has changed since the caller read it. The message describes the changes.
 */
export function demandUnchanged(
  { id, revision, state }: Session,
  { version, ...expected }: ExpectedVersions,
  node?: string,
): void {
  const now = node === undefined ? undefined : state.nodes[node]?.version;
  if (version !== undefined && now !== undefined && now !== version) {
    const since = state.changes.filter((one) => one.node === node && (one.version ?? 0) > version);
    throw new Conflict(
      `node "${node}" is at version ${now}, and you have read ${version}: ${describeChanges(since)} - read it again, and send your change with "version": ${now}`,
    );
  }
  if (expected.revision === undefined || expected.revision === revision) return;
  const since = state.changes.filter((one) => one.revision > (expected.revision as number));
  throw new Conflict(
    `session ${id} is at revision ${revision}, and you have read ${expected.revision}: ${describeChanges(since)} - read it again, and send your change with "revision": ${revision}`,
  );
}

function describeChanges(changes: readonly SessionChange[]): string {
  const last = changes.slice(-3).map(({ what, by, at }) => `${what}, by ${by} at ${at}`);
  return last.length === 0 ? "it was changed" : last.join("; ");
}

/** Milliseconds after which an execution without a record counts as never started. */
const lostMs = 60_000;

/**
 * Adds the outcomes of ended executions to a session, since no event reports their end, and removes outcomes of erased
 * executions. Returns the new session and stores nothing.
 */
export async function settleSession(ports: ServicePorts, session: Session): Promise<Session> {
  let current = await dropErased(ports, session);
  for (const run of session.state.runs) {
    const record = await ports.executions.get(run.execution);
    // Right after the end of a run, its record lacks the tip of the chain for a moment. The outcomes are read once the
    // record has a tip.
    const isOver = record && hasEnded(record) && record.tip !== undefined;
    if (record && !record.erased && !isOver) continue;
    if (!record && ports.clock.now() - Date.parse(run.at) < lostMs) continue;
    const outcomes = record && !record.erased ? await readOutcomes(ports, run) : new Map<string, RunOutcome>();
    const { afterLoops } = buildDraftGraph(current.state.draft);
    const unfinished = record?.status === "completed" ? undefined : afterLoops;
    const state = addOutcomes(current.state, run.execution, outcomes, unfinished);
    const nodes = [...outcomes.keys()].join(", ");
    const what = nodes === "" ? `${run.execution} produced no output` : `${run.execution} produced outputs of ${nodes}`;
    current = recordChange(ports, { ...current, state }, run.by, { what });
  }
  return current;
}

/** Returns the outcomes that an execution produced for nodes of the session, by node. */
async function readOutcomes(ports: ServicePorts, run: SessionRun): Promise<Map<string, RunOutcome>> {
  const outcomes = new Map<string, RunOutcome>();
  const maps = new Set<string>();
  for await (const { head, hash } of runHeads(ports, run.execution)) {
    const { node_id, node_type, status, path_taken, reused_from, calls } = head;
    if (node_type === "map") maps.add(node_id);
    // The outcome of a map is the entry of its join, so it counts for the map node.
    const fork = node_type === "join" ? node_id.replace(/\.join$/, "") : undefined;
    const node = fork !== undefined && maps.has(fork) ? fork : node_id;
    const isBegun = (node_type === "map" && status === "success") || calls !== undefined;
    if (!run.nodes[node] || reused_from || isBegun || (status === "failed" && path_taken === null)) continue;
    outcomes.set(node, outcomeOf({ head, hash }, run.execution));
  }
  return outcomes;
}

/** Returns the outcome that an entry of an execution holds. */
export function outcomeOf({ head, hash }: Pick<RunHead, "head" | "hash">, execution: string): RunOutcome {
  const { scope, seq, decision_result: decision, status } = head;
  return {
    id: hash,
    ...(decision !== null && { decision }),
    ...(status === "failed" && { failed: true as const }),
    source: { execution, scope, seq, hash },
  };
}

/** Drops outcomes of erased executions, so their nodes run again. */
async function dropErased(ports: Pick<ServicePorts, "executions" | "clock">, session: Session): Promise<Session> {
  const { nodes, family, recorded } = session.state;
  const named = new Set(
    Object.values(nodes).flatMap(({ outcome }) =>
      outcome && "hash" in outcome.source ? [outcome.source.execution] : [],
    ),
  );
  for (const id of [family?.last, recorded?.execution]) if (id !== undefined) named.add(id);
  const records = await atOnce([...named], (id) => ports.executions.get(id));
  const erased = new Set(records.flatMap((record) => (record?.erased ? [record.id] : [])));
  if (erased.size === 0) return session;
  // If the last execution is erased, the blobs that the executions share may be gone. The next execution then starts
  // with blobs of its own.
  const isOver = family?.last !== undefined && erased.has(family.last);
  const isGone = ({ source }: NodeOutcome) =>
    "hash" in source ? erased.has(source.execution) : isOver && referencesIn(source.set).length > 0;
  const kept = Object.entries(nodes).map(([id, record]): [string, NodeRecord] => {
    const { outcome, version } = record;
    return [id, outcome && isGone(outcome) ? { version: version + 1 } : record];
  });
  const next = isOver ? { family: { root: `exec_${ulid(ports.clock.now())}` } } : {};
  // If the session was made from a run, its initial context is a copy of that run's initial context.
  const isCopy = recorded !== undefined && erased.has(recorded.execution);
  const state = isCopy ? { ...session.state, context: "{}" } : session.state;
  return { ...session, state: { ...state, ...next, nodes: Object.fromEntries(kept) } };
}

/** Number of changes that conflict messages can quote. */
const keptChanges = 50;

/** Returns the session with the next revision and a record of the change. */
export function recordChange(
  { clock }: Pick<ServicePorts, "clock">,
  session: Session,
  by: string,
  described: Pick<SessionChange, "what" | "node">,
): Session {
  const revision = session.revision + 1;
  const version = described.node === undefined ? undefined : session.state.nodes[described.node]?.version;
  const change = { revision, at: new Date(clock.now()).toISOString(), by, ...described, ...defined({ version }) };
  const changes = [...session.state.changes, change].slice(-keptChanges);
  return { ...session, revision, state: { ...session.state, changes } };
}

/**
 * Undoes the changes that a failed run made to a session, except where another request has changed the session again.
 * The versions of nodes still rise, so a version number never means two states of a node.
 */
export async function restoreSession(
  ports: ServicePorts,
  by: Principal,
  { session, before }: { session: Session; before: SessionState },
): Promise<void> {
  const { state: after } = session;
  const execution = after.family?.last ?? "";
  const hasRun = (await ports.executions.get(execution)) !== undefined;
  await changeSession(ports, by, session.id, ({ state }) => {
    const isMine = isDeepStrictEqual(state.draft, after.draft);
    const nodes = Object.entries(state.nodes).map(([id, record]): [string, NodeRecord] => {
      const earlier = before.nodes[id];
      const isTouched = !isDeepStrictEqual(earlier, after.nodes[id]) && isDeepStrictEqual(record, after.nodes[id]);
      return [id, isMine && earlier && isTouched ? { ...earlier, version: record.version + 1 } : record];
    });
    const runs = state.runs.filter((run) => run.execution !== execution);
    return {
      state: {
        ...state,
        ...(!hasRun && before.family && { family: before.family }),
        runs,
        nodes: Object.fromEntries(nodes),
        draft: isMine ? before.draft : state.draft,
        context: state.context === after.context ? before.context : state.context,
      },
      what: `${execution} failed, and NOVA took its changes back`,
      answer: undefined,
    };
  });
}
