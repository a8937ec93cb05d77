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

/** Code that may run in a node: from the workflow's lock file or from the store. */
export type Candidate = Pick<Generation, "key" | "ingredients" | "code" | "analysis" | "codeHash" | "approved">;

/** The client whose generations a node uses; null if all clients of the workflow share them. */
export function clientOf({ version, client }: Pick<PromptTask, "version" | "client">): string | null {
  return version.workflow.scope === "client" ? client : null;
}

/**
 * Chooses the code to run: code that was written for the same node and the same kind of input. `generations` are the
 * node's, in any order. Locked code has precedence over stored code, unless it failed here and was replaced. A frozen
 * run of a workflow with a lock uses only locked code, so that it behaves the same in every deployment. In a run that
 * writes the node's code again (`fresh`), only code that this execution has proven counts, so that a loop or map writes
 * it only once.
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
 * Finds the pinned code with which an earlier delivery of this task started. Throws `NodeInterrupted` if it was
 * removed.
 */
export function findPinned(task: PromptTask, generations: readonly Generation[], id: string): PinnedCode {
  const found = [...lockedCodeOf(task), ...generations].find((one) => generationId(one) === id);
  if (found) return pinnedCode(found);
  const message = `node "${task.node.id}": the code that it began with was removed meanwhile - start the run again`;
  throw new NovaError("NodeInterrupted", message);
}

/** True if the code was written for the same node and the same kind of input. */
export function fitsTask(
  task: Pick<PromptTask, "node" | "edges" | "version" | "input">,
  { key, ingredients }: Pick<Candidate, "key" | "ingredients">,
  generator: Generator,
): boolean {
  return generationKey(currentIngredients(task, generator, ingredients)) === key;
}

/** Candidates that may run, in order of precedence: pinned or locked, and approved if the workflow requires it. */
export function runnableCandidates(task: PromptTask, generations: readonly Generation[]): Candidate[] {
  const pinned = generations.filter(({ status }) => status === "pinned");
  const replaced = usesStore(task) ? generations.filter(({ status }) => status === "replaced") : [];
  const candidates = allCandidates(task, pinned).filter((one) => !replaced.some((other) => isSameCode(one, other)));
  const { approval } = task.version.workflow;
  return approval === "required" ? candidates.filter(({ approved }) => approved) : candidates;
}

/** All candidates, in order of precedence. */
export function allCandidates(task: PromptTask, generations: readonly Generation[]): Candidate[] {
  return [...lockedCodeOf(task), ...(usesStore(task) ? generations.toSorted(newestFirst) : [])];
}

/** True if there is fitting code that only lacks an approval. */
export function waitsForApproval(task: PromptTask, generations: readonly Generation[], generator: Generator): boolean {
  if (task.version.workflow.approval !== "required") return false;
  const waiting = generations.filter(({ status }) => status !== "replaced");
  return allCandidates(task, waiting).some((one) => !one.approved && fitsTask(task, one, generator));
}

/** True if stored code may run, and not only locked code. */
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
