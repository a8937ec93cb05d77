import { sha256 as sha256Of, type TraceEntry } from "@nova/engine";
import { type Node, nodeIndex, type Workflow } from "@nova/workflow";
import type { ShownTrace } from "../api/recorded.ts";
import { recordedIn } from "../replay/recorded.ts";
import type { Fixture, FixtureOutcome } from "./fixture.ts";
import { type Blobs, type WholeValue, wholeValue } from "./values.ts";

/** One run of a node, at its place. */
export interface Step {
  place: string;
  entry: TraceEntry;
  /** It ran in a fork that failed: which of its branches came how far before they were stopped is chance. */
  isChance: boolean;
}

const marks: ReadonlySet<string> = new Set(["join", "close"]);
const noSteps: ReadonlySet<string> = new Set(["start", "end"]);

/** Every run of a node, in order, and all places, those of start and end as well, that are no chance. */
export function stepsOf(trace: Pick<ShownTrace, "entries" | "execution">): { steps: Step[]; path: string[] } {
  const chance = new Set(inFailedForks(trace.entries));
  const all = Array.from(recordedIn(trace), ({ place, entry }) => ({
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

/** What an entry came to, as a test has it. A map's list is that of the context, so that it has nothing of its own. */
export async function outcomeOf(entry: TraceEntry, blobs: Blobs): Promise<FixtureOutcome | null> {
  const { status, decision_result: decision, changes, error_class, error_message } = entry;
  if (status === "failed") {
    const error = { class: error_class ?? "NodeFailed", message: error_message ?? "" };
    return { set: {}, delete: [], decision: null, error };
  }
  if (entry.node_type === "map") return null;
  return { set: await wholeMembers(changes.set.text, blobs), delete: changes.delete, decision };
}

/** The members of an object's JSON text. */
export async function wholeMembers(json: string, blobs: Blobs): Promise<Record<string, WholeValue>> {
  return (await wholeValue(json, blobs)) as Record<string, WholeValue>;
}

/** What a run came to as a whole, as a test expects it. */
export async function expectationOf(trace: ShownRun, blobs: Blobs): Promise<Fixture["expect"]> {
  const { steps, path } = stepsOf(trace);
  const { status, error } = trace.execution;
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

export type ShownRun = Pick<ShownTrace, "entries" | "execution" | "context">;

/** Key by key what an outcome is compared by: a failure is the key `error`, a choice `branch_decision`. */
export function comparable({ set, delete: deleted, decision, error }: FixtureOutcome): Map<string, WholeValue> {
  const isSaid = Object.hasOwn(set, "branch_decision");
  return new Map<string, WholeValue>([
    ...deleted.map((key): [string, WholeValue] => [key, "(deleted)"]),
    ...Object.entries(set),
    ...(error ? [["error", { class: error.class, message: error.message }] as [string, WholeValue]] : []),
    ...(decision === null || isSaid ? [] : [["branch_decision", decision] as [string, WholeValue]]),
  ]);
}

/** Nodes that a test runs: without effects, and with code that is there. */
export function liveNodes(workflow: Workflow): Set<string> {
  const nodes = Array.from(nodeIndex(workflow).values(), ({ node }) => node);
  return new Set(nodes.filter((node) => isLive(node, workflow)).map(({ id }) => id));
}

function isLive(node: Node, { lock }: Workflow): boolean {
  if (!("executor" in node) || node.effects !== false) return false;
  return node.executor.kind === "code" || lock?.[node.id] !== undefined;
}

/** What the code of each node is; of a node that a model writes what it is asked, and the code that is locked. */
export function codeOf(workflow: Workflow): Pick<Fixture, "code" | "prompts"> {
  const told: Pick<Fixture, "code" | "prompts"> = { code: {}, prompts: {} };
  for (const { node } of nodeIndex(workflow).values()) {
    if (!("executor" in node)) continue;
    const code = node.executor.kind === "code" ? node.executor.code : workflow.lock?.[node.id]?.code;
    if (code !== undefined) told.code[node.id] = short(code);
    if (node.executor.kind === "prompt") told.prompts[node.id] = short(node.executor.prompt);
  }
  return told;
}

function short(text: string): string {
  return shortHash(sha256Of(text));
}

/** A reader sees at once that it is another one. */
export function shortHash(sha256: string): string {
  return sha256.slice(0, 16);
}
