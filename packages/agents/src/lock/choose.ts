import type { Generation, Identified, PinnedCode, PromptTask } from "@nova/engine";
import { generationId, NovaError } from "@nova/engine";
import type { Ingredients, LockedCode } from "@nova/workflow";
import { currentIngredients, type Generator, generationKey } from "./ingredients.ts";

/** Code that may run in a node: from the workflow's lock file or from the store. */
export type Candidate = Pick<Generation, "key" | "ingredients" | "code" | "analysis" | "codeHash" | "approved">;

/**
 * Returns the client whose stored code (generations) a node uses; null if all clients of the workflow share their code.
 */
export function clientOf({ version, client }: Pick<PromptTask, "version" | "client">): string | null {
  return version.workflow.scope === "client" ? client : null;
}

/**
 * Chooses the code to run: code that was written for the same node and the same kind of input. `generations` is all
 * code that is stored for the node, in any order. Locked code has precedence over stored code, unless it failed and
 * other code replaced it in this store. A frozen run of a workflow with a lock uses only locked code, so that it
 * behaves the same in every deployment. In a run that writes the node's code again (`fresh`), only code that this
 * execution has proven counts. The model then writes the code of a node in a loop or map only once.
 */
export function choosePinned(task: PromptTask, generations: readonly Generation[], generator: Generator) {
  const own = generations.filter(({ provenBy }) => provenBy === task.at.execution);
  const candidates = task.fresh ? runnableCandidates(withoutLock(task), own) : runnableCandidates(task, generations);
  const found = candidates.find((candidate) => fitsTask(task, candidate, generator));
  return found ? pinnedCode(found) : null;
}

/** Finds the pinned code with which an earlier delivery started. Throws `NodeInterrupted` if the code was removed. */
export function findPinned(task: PromptTask, generations: readonly Generation[], id: string): PinnedCode {
  const found = [...lockedCodeOf(task), ...generations].find((one) => generationId(one) === id);
  if (found) return pinnedCode(found);
  const message = `node "${task.node.id}": the code that it began with was removed meanwhile - start the run again`;
  throw new NovaError("NodeInterrupted", message);
}

/** Returns true if the code was written for the same node and the same kind of input. */
export function fitsTask(
  task: Pick<PromptTask, "node" | "edges" | "version" | "input">,
  { key, ingredients }: Pick<Candidate, "key" | "ingredients">,
  generator: Generator,
): boolean {
  return generationKey(currentIngredients(task, generator, ingredients)) === key;
}

/**
 * Returns the candidates that may run, in order of precedence. If the workflow requires approval, returns only approved
 * code.
 */
export function runnableCandidates(task: PromptTask, generations: readonly Generation[]): Candidate[] {
  const pinned = generations.filter(({ status }) => status === "pinned");
  const replaced = usesStore(task) ? generations.filter(({ status }) => status === "replaced") : [];
  const candidates = allCandidates(task, pinned).filter((one) => !replaced.some((other) => isSameCode(one, other)));
  const { approval } = task.version.workflow;
  return approval === "required" ? candidates.filter(({ approved }) => approved) : candidates;
}

/** Returns all candidates, in order of precedence. */
export function allCandidates(task: PromptTask, generations: readonly Generation[]): Candidate[] {
  return [...lockedCodeOf(task), ...(usesStore(task) ? generations.toSorted(newestFirst) : [])];
}

/** Returns true if some code fits the task and could run if a person approved it. */
export function waitsForApproval(task: PromptTask, generations: readonly Generation[], generator: Generator): boolean {
  if (task.version.workflow.approval !== "required") return false;
  const waiting = generations.filter(({ status }) => status !== "replaced");
  return allCandidates(task, waiting).some((one) => !one.approved && fitsTask(task, one, generator));
}

/** Returns true if the node may run code from the store, in addition to locked code. */
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

/** A changed ingredient, or one changed part of it. */
export interface Change {
  /** Name of the ingredient: `prompt`, `reads.order.total`, `guides.money`, `lib.mails.py` ... */
  ingredient: string;
  was: string | null;
  is: string | null;
}

/** Lists the ingredients that have changed since code was written. */
export function findChanges({ ingredients }: { ingredients: Ingredients }, today: Ingredients): Change[] {
  const names = Object.keys(ingredients) as (keyof Ingredients)[];
  return names.flatMap((name) => changesOf(name, ingredients[name], today[name]));
}

function changesOf(name: string, was: Ingredients[keyof Ingredients], is: Ingredients[keyof Ingredients]): Change[] {
  if (isParts(was) && isParts(is)) {
    const parts = Array.from(new Set([...Object.keys(was), ...Object.keys(is)])).sort();
    return parts.flatMap((part) => change(`${name}.${part}`, was[part] ?? null, is[part] ?? null));
  }
  return change(name, textOf(was), textOf(is));
}

function change(ingredient: string, was: string | null, is: string | null): Change[] {
  return was === is ? [] : [{ ingredient, was, is }];
}

function isParts(value: Ingredients[keyof Ingredients]): value is Record<string, string> {
  return typeof value === "object" && !Array.isArray(value);
}

function textOf(value: Ingredients[keyof Ingredients]): string {
  return Array.isArray(value) ? value.join(", ") : String(value);
}

const ingredientNames: Record<string, string> = {
  prompt: "the prompt",
  node_type: "the type of the node",
  edges: "the conditions of its edges",
  generator: "NOVA's code generator",
  model: "the model",
  settings: "the model's settings",
  template: "the sandbox template",
  requirements: "the requirements",
};

/** Describes a change for a sentence: `the prompt`, `the guide "money"`. */
export function changeText({ ingredient, was, is }: Change): string {
  const [name = "", ...rest] = ingredient.split(".");
  const part = rest.join(".");
  if (name === "guides") return `the guide "${part}"`;
  if (name === "lib") return `lib/${part}`;
  if (name === "reads") return `${part.replace(/\?$/, "")} (${was ?? "not read"} then, ${is ?? "not read"} now)`;
  return ingredientNames[name] ?? name;
}

/** Explains in one sentence why a node without a model has no code to run, and what the user can do. */
export function explainMiss(task: PromptTask, generations: readonly Generation[], generator: Generator): string {
  const written = "run it once with a model (nova run <folder>), then nova lock <folder>";
  if (task.fresh && task.frozen) {
    return "its code is to be written anew, and no model may be asked here - start the run without fresh, or set NOVA_FROZEN=0";
  }
  const all = allCandidates(task, generations);
  const [latest] = all;
  if (!latest) return `there is no locked code, and a frozen run asks no model - ${written}`;
  if (waitsForApproval(task, generations, generator)) {
    const wayOut = `look at it, then run nova lock approve <folder> ${task.node.id}`;
    return `nobody has approved its code, and this workflow runs only approved code - ${wayOut}`;
  }
  const changes = findChanges(latest, currentIngredients(task, generator, latest.ingredients)).map(changeText);
  if (changes.length === 0) return `no run has proven the code that was written for it - ${written}`;
  return `its locked code was written for something else, changed since: ${changes.join(", ")} - ${written}`;
}
