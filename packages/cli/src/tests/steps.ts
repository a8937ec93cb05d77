import { sha256 as sha256Of, type TraceEntry } from "@nova/engine";
import { type Node, nodeIndex, type Workflow } from "@nova/workflow";
import { listRecorded, type RecordedTrace, type ShownTrace } from "../api/recorded.ts";
import type { Fixture, FixtureOutcome } from "./fixture.ts";
import { type Blobs, type WholeValue, wholeValue } from "./values.ts";

export interface Step {
  place: string;
  entry: TraceEntry;
  /**
   * True if the node ran in a fork that failed. In such a fork, timing decides which nodes ran before NOVA stopped the
   * branches.
   */
  isChance: boolean;
}

const marks: ReadonlySet<string> = new Set(["join", "close"]);
const noSteps: ReadonlySet<string> = new Set(["start", "end"]);

/**
 * Lists all runs of nodes in order, and returns the path of the execution. The path contains the places of these runs,
 * of start and of end. It leaves out places that depend on timing.
 */
export function listSteps(trace: RecordedTrace): { steps: Step[]; path: string[] } {
  const chance = new Set(inFailedForks(trace.entries));
  const all = Array.from(listRecorded(trace), ({ place, entry }) => ({
    place,
    entry,
    isChance: chance.has(entry),
  })).filter(({ entry }) => !marks.has(entry.node_type));
  return {
    steps: all.filter(({ entry }) => !noSteps.has(entry.node_type)),
    path: all.flatMap(({ place, isChance }) => (isChance ? [] : [place])),
  };
}

function* inFailedForks(entries: readonly TraceEntry[], isInside = false): Iterable<TraceEntry> {
  for (const [index, entry] of entries.entries()) {
    if (isInside) yield entry;
    const { node_type, status } = entries[index + 1] ?? {};
    const isFailed = node_type === "join" && status === "failed";
    for (const branch of entry.branches ?? []) yield* inFailedForks(branch.entries, isInside || isFailed);
  }
}

/**
 * Returns the outcome of an entry as a test records it. Returns null for a map, because the results of a map are in the
 * context. Also returns null for a visit in which the code of a compiled agent ran, because a test runs that code.
 */
export async function outcomeOf(entry: TraceEntry, blobs: Blobs): Promise<FixtureOutcome | null> {
  const { status, decision_result: decision, changes, error_class, error_message } = entry;
  if (status === "failed") {
    const error = { class: error_class ?? "NodeFailed", message: error_message ?? "" };
    return { set: {}, delete: [], decision: null, error };
  }
  if (entry.node_type === "map" || (entry.node_type === "agent" && entry.code_hash !== null)) return null;
  if (entry.reply) {
    const { text, calls, unfit } = entry.reply;
    const requested = calls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args }));
    const answer = unfit === undefined ? {} : { answer: { problem: unfit } };
    return { set: {}, delete: [], decision: null, reply: { text, calls: requested, ...answer } };
  }
  return { set: await wholeMembers(changes.set.text, blobs), delete: changes.delete, decision };
}

/** Reads the members of an object from its JSON text. */
export async function wholeMembers(json: string, blobs: Blobs): Promise<Record<string, WholeValue>> {
  return (await wholeValue(json, blobs)) as Record<string, WholeValue>;
}

/** Returns the result of a whole run as a test expects it. */
export async function expectationOf(trace: ShownRun, blobs: Blobs): Promise<Fixture["expect"]> {
  const { steps, path } = listSteps(trace);
  const { status, error } = trace;
  const decided = steps.flatMap(({ place, entry, isChance }) =>
    isChance || entry.decision_result === null ? [] : [[place, entry.decision_result] as const],
  );
  return {
    status: status === "completed" ? status : "failed",
    ...(error && { error: { node: error.node, class: error.class, message: error.message } }),
    path,
    decisions: Object.fromEntries(decided),
    context: await wholeMembers(trace.context.text, blobs),
  };
}

export type ShownRun = RecordedTrace & Pick<ShownTrace, "status" | "error" | "context">;

/**
 * Returns the values of an outcome by key, for comparison. A failure has the key `error`, a decision the key
 * `branch_decision`.
 */
export function valuesByKey({ set, delete: deleted, decision, error, reply }: FixtureOutcome): Map<string, WholeValue> {
  const isSaid = Object.hasOwn(set, "branch_decision");
  return new Map<string, WholeValue>([
    ...deleted.map((key): [string, WholeValue] => [key, "(deleted)"]),
    ...Object.entries(set),
    ...(reply === undefined ? [] : [["reply", reply] as [string, WholeValue]]),
    ...(error ? [["error", { class: error.class, message: error.message }] as [string, WholeValue]] : []),
    ...(decision === null || isSaid ? [] : [["branch_decision", decision] as [string, WholeValue]]),
  ]);
}

/** Lists the nodes that a test runs: those with code and `"effects": false`. */
export function listLiveNodes(workflow: Workflow): Set<string> {
  const nodes = Array.from(nodeIndex(workflow).values(), ({ node }) => node);
  return new Set(nodes.filter((node) => isLive(node, workflow)).map(({ id }) => id));
}

function isLive(node: Node, { lock }: Workflow): boolean {
  if (!("executor" in node) || node.effects !== false) return false;
  return node.executor.kind === "code" || lock?.[node.id] !== undefined;
}

/** Hashes the code of each node; for a prompt node, its prompt and its locked code. */
export function hashCode(workflow: Workflow): Pick<Fixture, "code" | "prompts"> {
  const found: Pick<Fixture, "code" | "prompts"> = { code: {}, prompts: {} };
  for (const { node } of nodeIndex(workflow).values()) {
    if (!("executor" in node)) continue;
    const code = node.executor.kind === "code" ? node.executor.code : workflow.lock?.[node.id]?.code;
    if (code !== undefined) found.code[node.id] = short(code);
    if (node.executor.kind === "prompt") found.prompts[node.id] = short(node.executor.prompt);
  }
  return found;
}

function short(text: string): string {
  return shortHash(sha256Of(text));
}

/** Returns the first 16 characters of a hash, which are enough to detect a difference. */
export function shortHash(sha256: string): string {
  return sha256.slice(0, 16);
}
