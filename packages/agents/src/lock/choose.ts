import {
  type Generation,
  generationId,
  type Identified,
  NovaError,
  type PinnedCode,
  type PromptTask,
} from "@nova/engine";
import type { LockedCode } from "@nova/workflow";
import type { Generator } from "./generator.ts";
import { currentIngredients, generationKey } from "./ingredients.ts";

/** Code that may run in a node: locked beside the workflow, or kept in the store. */
export type Candidate = Pick<Generation, "key" | "ingredients" | "code" | "analysis" | "codeHash" | "approved">;

/** Whose generations a node's are: every client's, unless the workflow keeps them apart. */
export function clientOf({ version, client }: Pick<PromptTask, "version" | "client">): string | null {
  return version.workflow.scope === "client" ? client : null;
}

/**
 * The code to run at once: written for a node and an input like today's. What is locked beside the workflow goes before
 * what is in the store (`generations`: the node's, in any order), unless it has failed here and was replaced; in a frozen
 * run of a workflow that has a lock nothing else counts, so that it runs alike wherever it is deployed. Where the node is
 * to be written anew, only what this execution itself has proven counts: a loop or a map does not write it each time.
 */
export function choosePinned(
  task: PromptTask,
  generations: readonly Generation[],
  generator: Generator,
): PinnedCode | null {
  const own = generations.filter(({ provenBy }) => provenBy === task.at.execution);
  const candidates = task.fresh ? runnableCandidates(withoutLock(task), own) : runnableCandidates(task, generations);
  const found = candidates.find((candidate) => fitsTask(task, candidate, generator));
  return found ? pinnedCode(found) : null;
}

/**
 * The pinned code that an earlier delivery of this task began with, whatever has become of it since. Throws
 * `NodeInterrupted` where it is nowhere any more.
 */
export function findPinned(task: PromptTask, generations: readonly Generation[], id: string): PinnedCode {
  const found = [...lockedCodeOf(task), ...generations].find((one) => generationId(one) === id);
  if (found) return pinnedCode(found);
  const message = `node "${task.node.id}": the code that it began with was removed meanwhile - start the run again`;
  throw new NovaError("NodeInterrupted", message);
}

/** Whether code was written for a node and an input like these. */
export function fitsTask(
  task: Pick<PromptTask, "node" | "edges" | "version" | "input">,
  { key, ingredients }: Pick<Candidate, "key" | "ingredients">,
  generator: Generator,
): boolean {
  return generationKey(currentIngredients(task, generator, ingredients)) === key;
}

/** Candidates that somebody has vouched for, in the order of their right to run. */
export function runnableCandidates(task: PromptTask, generations: readonly Generation[]): Candidate[] {
  const pinned = generations.filter(({ status }) => status === "pinned");
  const replaced = usesStore(task) ? generations.filter(({ status }) => status === "replaced") : [];
  const candidates = allCandidates(task, pinned).filter((one) => !replaced.some((other) => isSameCode(one, other)));
  const { approval } = task.version.workflow;
  return approval === "required" ? candidates.filter(({ approved }) => approved) : candidates;
}

/** The same, whether anybody has vouched for them or not. */
export function allCandidates(task: PromptTask, generations: readonly Generation[]): Candidate[] {
  return [...lockedCodeOf(task), ...(usesStore(task) ? generations.toSorted(newestFirst) : [])];
}

/** Whether there is code that fits, and that only lacks somebody's approval. */
export function waitsForApproval(task: PromptTask, generations: readonly Generation[], generator: Generator): boolean {
  if (task.version.workflow.approval !== "required") return false;
  const waiting = generations.filter(({ status }) => status !== "replaced");
  return allCandidates(task, waiting).some((one) => !one.approved && fitsTask(task, one, generator));
}

/** Whether what is kept in the store may run besides what is locked. */
export function usesStore({ frozen, version }: Pick<PromptTask, "frozen" | "version">): boolean {
  return !frozen || version.workflow.lock === undefined;
}

export function lockedCodeOf({ version, node }: Pick<PromptTask, "version" | "node">): LockedCode[] {
  const { lock = {} } = version.workflow;
  return Object.hasOwn(lock, node.id) ? [lock[node.id] as LockedCode] : [];
}

function withoutLock(task: PromptTask): PromptTask {
  const { lock: _, ...workflow } = task.version.workflow;
  return { ...task, version: { ...task.version, workflow } };
}

export function isSameCode(a: Identified, b: Identified): boolean {
  return a.key === b.key && a.codeHash === b.codeHash;
}

export function newestFirst(a: Generation, b: Generation): number {
  return a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : 0;
}

function pinnedCode(candidate: Candidate): PinnedCode {
  const { code, analysis } = candidate;
  return { generation: generationId(candidate), code, ...(analysis !== undefined && { analysis }) };
}
