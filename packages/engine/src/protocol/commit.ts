import { defined, isInLoop, joinOf, type Node, nodeIndex } from "@nova/workflow";
import { type Head, headOf, sealEntry } from "../chain/entry.ts";
import { branchOf } from "../chain/ids.ts";
import { contextBefore, type LoadedContext, type Position } from "../chain/position.ts";
import { addSpendings } from "../chain/spending.ts";
import { blobPages, linkLabel, storeContext } from "../context/context.ts";
import { chainBroken } from "../errors.ts";
import type { RecordedTimes, StoredEntry } from "../ports/chain.ts";
import type { Ports } from "../ports/index.ts";
import type { WorkflowVersion } from "../ports/pipeline.ts";
import { releaseSandboxes, spareBefore, spareForBranches } from "../sandboxes/life.ts";
import { type HeldNode, isLoopOf, type Loops, type Reason } from "./definition.ts";
import { buildFailure, factsWithoutCode, type Outcome } from "./outcome.ts";

/** The node or the join to which an entry belongs. */
type EntryNode = { id: string; type: Head["node_type"] };

/**
 * Writes the entry of a node, unless the node has an entry. Returns the stored entry: the new entry, or the entry that
 * a faster delivery wrote.
 */
export async function commitOutcome(
  ports: Ports,
  position: Position,
  node: EntryNode,
  outcome: Outcome,
  kept?: LoadedContext,
): Promise<StoredEntry> {
  const waits = await waitsForPeople(ports, position, node.id, outcome);
  const sealed = waits ? { ...outcome, run: { ...outcome.run, warm: null, spare: [] } } : outcome;
  const entry = await sealOutcome(ports, position, node, sealed, kept ?? (await contextBefore(ports, position)));
  if (await ports.chain.putEntry(position.at, entry)) {
    ports.tailCache.keep(position.at, entry, ports.clock.now());
    if (waits) await releaseSandboxes(ports, { spare: spareBefore(position), ...outcome.run });
    else if (position.at.scope !== "") await spareForBranches(ports, position, { ...outcome.run, next: outcome.next });
    return entry;
  }
  const { entry: winner } = await ports.chain.read(position.at);
  if (!winner) throw chainBroken(`link ${position.at.seq} of ${position.at.execution} refuses an entry and has none`);
  return winner;
}

/**
 * Whether the run may wait for people after this outcome. The run may wait after an agent has requested a call that
 * asks people first, and again after each call of this request has ended. An answer may take days, so the run then
 * keeps no sandbox.
 */
async function waitsForPeople(ports: Ports, { at, before }: Position, node: string, { next, more }: Outcome) {
  const call = next === null ? branchOf(at.scope) : null;
  if (!more?.calls && !call) return false;
  const version = await ports.workflows.get(before.workflow_id, before.workflow_version);
  const agent = version && nodeIndex(version.workflow).get(more?.calls ? node : (call?.fork ?? ""))?.node;
  const asking = agent?.type === "agent" ? agent.body.nodes.filter(({ type }) => type === "approval") : [];
  if (asking.length === 0) return false;
  const asked = call && (await ports.chain.read({ execution: at.execution, scope: call.parent, seq: call.seq })).entry;
  const calls = more?.calls ?? (asked && headOf(asked).calls) ?? [];
  return asking.some(({ id }) => calls.includes(id));
}

/** Writes the failed entry of a node that runs no code of its own. */
export function commitFailure(ports: Ports, held: HeldNode, cause: Reason | string, kept?: LoadedContext) {
  const { position, node, turn } = held;
  const outcome = buildFailure(held, cause, factsWithoutCode(ports, turn, position.before));
  return commitOutcome(ports, position, node, outcome, kept);
}

async function sealOutcome(ports: Ports, position: Position, node: EntryNode, outcome: Outcome, kept: LoadedContext) {
  const { before, at } = position;
  const { status, run, more = {} } = outcome;
  const { generation, analysis, asked, count, calls, child, reused, edited } = more;
  const changes = status === "success" ? outcome.changes : { set: [], delete: [] };
  const context = kept.context.apply(changes, linkLabel(at));
  const stored = await storeContext(context, kept.stored, changes, blobPages(ports.blobs, before));
  const nowMs = ports.clock.now();
  const waited: RecordedTimes = { waiting_ms: Math.max(0, nowMs - Date.parse(before.timestamp)), sandbox_ms: 0 };
  const version = await ports.workflows.get(before.workflow_id, before.workflow_version);
  const parts = headParts.map((part) => part({ position, node, version, outcome }));
  const continued: ContinuedFields = Object.assign({}, ...parts);
  const own = {
    ...inheritedHead(position),
    node_id: node.id,
    node_type: node.type,
    status,
    attempt: run.attempt,
    path_taken: outcome.next,
    decision_result: status === "success" ? outcome.decision : null,
    timestamp: new Date(nowMs).toISOString(),
    execution_time_ms: outcome.executionTimeMs,
    sandbox_id: run.sandboxId,
    warm: run.warm,
    code: run.code,
    nodes: before.nodes,
    ...defined({
      generation,
      analysis,
      asked,
      count,
      calls,
      child,
      edited,
      addresses: run.addresses,
      failed_deliveries: run.failedDeliveries,
      times: reused || edited ? undefined : waitingTypes.has(node.type) ? waited : run.times,
      error_class: status === "failed" ? outcome.class : undefined,
      cache_hit: more.cacheHit ? (true as const) : undefined,
      reused_from: reused,
    }),
    steps: more.steps ?? (await attemptsAt(ports, at, outcome)),
  };
  return sealEntry(
    { ...own, ...continued },
    {
      context: JSON.stringify(stored),
      ...(status === "failed" && { error: JSON.stringify(outcome.failure) }),
      ...(outcome.logs !== "" && { logs: outcome.logs }),
      ...more.contents,
    },
    ports.blobs,
  );
}

/** The types of nodes whose whole time is waiting: for an answer, an event, a time, or another execution. */
const waitingTypes: ReadonlySet<Head["node_type"]> = new Set(["approval", "wait", "workflow"]);

/**
 * Lists the hashes of the records of failed attempts. Leaves out the attempt that succeeded, even if another delivery
 * saw this attempt fail and recorded the failure.
 */
async function attemptsAt({ chain }: Ports, at: Position["at"], { status, run }: Outcome): Promise<string[]> {
  const last = status === "failed" ? run.attempt : run.attempt - 1;
  const stored = last > 0 ? await chain.steps(at) : [];
  return stored.flatMap(({ step, hash }) => (step <= last ? [hash] : []));
}

/** Returns the fields of an entry that follow from its position, and the fields that every entry of a run repeats. */
export function inheritedHead({ before, beforeEntry, at }: Position) {
  const { client, root, workflow_id, workflow_version, frozen, sealed, fresh } = before;
  return {
    execution_id: at.execution,
    scope: at.scope,
    seq: at.seq,
    ...defined({ client, root, workflow_id, workflow_version, frozen, sealed, fresh }),
    prev: beforeEntry.hash,
  };
}

interface Committed {
  position: Position;
  node: Pick<Node, "id">;
  /** The version of the run; undefined if it is no longer stored. */
  version: WorkflowVersion | undefined;
  outcome: Outcome;
}

type ContinuedFields = Partial<
  Pick<Head, "nodes" | "inner" | "spare" | "spent" | "loops" | "visits" | "events" | "continuation">
>;

type HeadPart = (committed: Committed) => ContinuedFields;

/**
 * The functions that compute the counts and lists that continue from entry to entry. To add such a count, write a
 * function and add it to this list.
 */
const headParts: readonly HeadPart[] = [countNodes, keepSpares, addSpent, countLoops, countVisits, countEvents];

function countNodes({ position: { before }, outcome: { run, more = {} } }: Committed): ContinuedFields {
  const inner = (before.inner ?? 0) + (more.inner ?? 0);
  return {
    nodes: before.nodes + (run.code === null ? 0 : 1) + (more.nodes ?? 0),
    ...(inner > 0 && { inner }),
  };
}

function keepSpares({ position, outcome: { run } }: Committed): ContinuedFields {
  const spare = run.spare ?? spareBefore(position);
  return spare.length > 0 ? { spare } : {};
}

function addSpent({ position: { before }, outcome: { more } }: Committed): ContinuedFields {
  return defined({ spent: addSpendings(before.spent, more?.spent) });
}

function countLoops({ position: { before }, node, outcome: { more } }: Committed): ContinuedFields {
  return defined({ loops: more?.loops ?? loopsAfter(before.loops, node.id) });
}

/**
 * Removes the counts of the loops that the run has left. When the run enters such a loop again, its count starts at 0.
 */
export function loopsAfter(before: Loops | undefined, node: string): Loops | undefined {
  const others = Object.entries(before ?? {}).filter(([key]) => !isLoopOf(key, node));
  return others.length > 0 ? Object.fromEntries(others) : undefined;
}

function countVisits({ position: { before }, node, version, outcome: { more } }: Committed): ContinuedFields {
  const { visits } = before;
  if (more?.visits) return { visits: more.visits };
  if (!version || !isInLoop(version.workflow, node.id)) return defined({ visits });
  return { visits: { ...visits, [node.id]: (visits?.[node.id] ?? 0) + 1 } };
}

/**
 * Counts the events in the Step Functions history. If the history is nearly full, the run continues in a further
 * execution.
 */
function countEvents({ position: { before, at }, node, version, outcome }: Committed): ContinuedFields {
  if (before.events === undefined) return {};
  if (!version) throw chainBroken(`workflow ${before.workflow_id} has no version ${before.workflow_version} any more`);
  const { history } = version;
  if (!history) return {};
  const { more = {}, status } = outcome;
  const { own = 0, each = 0, inlineItems = Number.POSITIVE_INFINITY } = history.entries[node.id] ?? {};
  const inside = more.inside && more.inside.branches <= inlineItems ? more.inside : { branches: 0, events: 0 };
  const failed = status === "failed" ? history.settled : 0;
  const events = before.events + own + failed + inside.events + inside.branches * each;
  const { continuation } = before;
  // The join of an agent's calls leads back to the agent.
  const leadsBack = more.loops !== undefined || (outcome.next !== null && joinOf(outcome.next) === node.id);
  if (at.scope !== "" || !leadsBack || events <= history.most) return { events, ...defined({ continuation }) };
  return { events: history.begun, continuation: { number: (continuation?.number ?? 0) + 1, seq: at.seq } };
}
