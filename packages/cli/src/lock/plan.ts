import {
  currentGenerator,
  type Generator,
  generationKey,
  ingredientsOf,
  ingredientsToday,
  needsAnalysis,
  type Read,
  readsTogether,
} from "@nova/agents";
import type { NovaClient } from "@nova/client";
import { type Generation, membersOf } from "@nova/engine";
import { codeHashOf, hashOf, type LockedCode, type LockRecord, lockedCodeOf, type ReadLock } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import {
  isOpen,
  listRecorded,
  type Recorded,
  readGenerations,
  readTrace,
  readWhole,
  type ShownTrace,
} from "../api/recorded.ts";
import { InvalidInput } from "../errors.ts";
import type { LockFolder, PromptNode } from "./folder.ts";

/**
 * The action of `nova lock` for a node. `added`, `updated`: it locks the code of an execution, or stored code.
 * `edited`: it locks the file that the user has edited. `restored`: it writes a missing file again. `none`: there is no
 * code for the current definition of the node.
 */
export type PlanAction = "added" | "updated" | "edited" | "restored" | "unchanged" | "none";

export interface Planned {
  node: string;
  action: PlanAction;
  /** The code to lock; absent if the node has no code. */
  locked?: LockedCode;
}

export interface PlanSources {
  generations: readonly Generation[];
  /** Returns the last successful run of a node, which contains the last code of the node; null if no run is known. */
  used(node: string): Recorded | null;
  generator: Generator;
  readsOf(source: string): Promise<readonly Read[]>;
  /** The current time in ISO 8601. */
  now: string;
}

/** Plans the code to lock for every prompt node. */
export function planLock(folder: LockFolder, sources: PlanSources): Promise<Planned[]> {
  return Promise.all(folder.prompts.map((prompt) => planNode(prompt, folder.entries[prompt.node.id], sources)));
}

async function planNode(prompt: PromptNode, entry: ReadLock | undefined, sources: PlanSources): Promise<Planned> {
  const node = prompt.node.id;
  if (entry?.state === "edited") return { node, action: "edited", locked: await lockEdit(prompt, entry, sources) };
  if (entry?.state === "missing" && entry.edited !== undefined) {
    // The code cannot run without its analysis. The plan does not restore the stored code together with the stored
    // analysis, because that would overwrite the edited file.
    const half = `${entry.edited} was edited, and ${entry.file}, which it needs, is missing`;
    throw new InvalidInput(`node "${node}": ${half} - take ${entry.file} from version control`);
  }
  const found = generationFor(prompt, entry, sources);
  const current = entry?.state === "locked" ? lockedCodeOf(entry) : undefined;
  if (!found) return current ? keepLocked(node, current, sources) : { node, action: "none" };
  const locked = lockedFrom(found, entry?.record);
  if (entry?.state === "missing") return { node, action: "restored", locked };
  if (!current) return { node, action: "added", locked };
  const isSame = current.key === locked.key && current.codeHash === locked.codeHash;
  return isSame ? keepLocked(node, current, sources) : { node, action: "updated", locked };
}

/**
 * Keeps the locked code. If a run has since used an unproven edit successfully, that run becomes the proof of the edit.
 */
function keepLocked(node: string, locked: LockedCode, { used }: PlanSources): Planned {
  const last = used(node);
  if (locked.provenBy !== undefined || !last || !ranCode(locked, last)) {
    return { node, action: "unchanged", locked };
  }
  return { node, action: "updated", locked: { ...locked, provenBy: last.execution.id } };
}

/** Returns the planned code by node. Leaves out nodes for which no code is planned. */
export function plannedCode(planned: readonly Planned[]): Record<string, LockedCode> {
  return Object.fromEntries(planned.flatMap(({ node, locked }) => (locked ? [[node, locked]] : [])));
}

/**
 * Finds the code to lock among the stored code for the current definition: the code of the last run, or else the newest
 * code. Returns undefined if the locked code is current, or if there is no code to lock.
 */
function generationFor(prompt: PromptNode, entry: ReadLock | undefined, sources: PlanSources): Generation | undefined {
  const { generator, generations, used } = sources;
  const fresh = generations
    .filter((one) => one.node === prompt.node.id && isFresh(prompt, one, generator))
    .sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
  const last = used(prompt.node.id);
  const ran = last && fresh.find((one) => ranCode(one, last));
  if (ran) return ran;
  const isLocked = entry && isFresh(prompt, entry.record, generator);
  if (isLocked && entry.state === "locked") return undefined;
  const own = isLocked ? fresh.find(({ codeHash }) => codeHash === entry.record.codeHash) : undefined;
  return own ?? fresh.find(({ status }) => status === "pinned") ?? fresh.find(({ status }) => status === "candidate");
}

function isFresh(prompt: PromptNode, { key, ingredients }: Pick<Generation, "key" | "ingredients">, today: Generator) {
  return generationKey(ingredientsToday(prompt, today, ingredients)) === key;
}

/** Builds the code to lock. Unchanged code stays approved, because an approval belongs to the code. */
function lockedFrom(generation: Generation, before: LockRecord | undefined): LockedCode {
  const { format: _format, workflowId: _id, node: _node, client: _client, status: _status, ...kept } = generation;
  const { approved, ...locked } = kept;
  return { ...locked, ...defined({ approved: before?.codeHash === kept.codeHash ? before.approved : approved }) };
}

/**
 * Locks code or an analysis that the user edited, without proof and approval. Drops an analysis that the edited code no
 * longer needs. The types of the keys that the code reads come from the last input of the node.
 */
async function lockEdit(
  prompt: PromptNode,
  { code, analysis: read, record }: ReadLock & { state: "edited" },
  sources: PlanSources,
): Promise<LockedCode> {
  const { provenBy: _, approved: _approved, analysisHash: _hash, ...kept } = record;
  const analysis = read !== undefined && needsAnalysis(code) ? read : undefined;
  const codes = { code, ...(analysis !== undefined && { analysis, analysisHash: hashOf(analysis) }) };
  const input = membersOf(sources.used(prompt.node.id)?.entry.input_context?.text ?? "{}");
  const guides = Object.keys(record.ingredients.guides);
  const readsOfCode = await sources.readsOf(code);
  const reads =
    codes.analysis === undefined ? readsOfCode : readsTogether(readsOfCode, await sources.readsOf(codes.analysis));
  const ingredients = ingredientsOf({ ...prompt, input }, sources.generator, { reads, guides });
  for (const [name, type] of Object.entries(ingredients.reads)) {
    if (type === "any") ingredients.reads[name] = record.ingredients.reads[name] ?? type;
  }
  const key = generationKey(ingredients);
  return { ...kept, key, ingredients, ...codes, codeHash: codeHashOf(codes), origin: "edited", createdAt: sources.now };
}

const latest = { max: 25, full: true };

/**
 * Reads the data for a plan. This includes the last successful run of each prompt node in the execution `from`; if
 * `from` is undefined, in the latest executions.
 */
export async function readSources(
  nova: NovaClient,
  { workflow, prompts }: Pick<LockFolder, "workflow" | "prompts">,
  from: string | undefined,
): Promise<PlanSources> {
  const last = new Map<string, Recorded>();
  const wanted = new Set(prompts.map(({ node }) => node.id));
  const runs = from === undefined ? latestRuns(nova, workflow.id, latest) : runsOfExecution(nova, workflow.id, from);
  for await (const run of wanted.size > 0 ? runs : []) {
    const { node_id, status, ai_metadata } = run.entry;
    if (status !== "success" || !ai_metadata || !wanted.delete(node_id)) continue;
    last.set(node_id, run);
    if (wanted.size === 0) break;
  }
  const generations = await readGenerations(nova, workflow.id);
  const { listContextReads } = await import("@nova/python");
  return {
    used: (node) => last.get(node) ?? null,
    generations,
    generator: currentGenerator,
    readsOf: async (source) => listContextReads(source),
    now: new Date().toISOString(),
  };
}

/**
 * Yields recorded runs of nodes in the latest ended executions of a workflow, newest first. `max` limits the number of
 * executions; `full` includes the inputs of the nodes.
 */
export async function* latestRuns(
  nova: NovaClient,
  workflow: string,
  { max, full }: { max: number; full: boolean },
): AsyncGenerator<Recorded> {
  let read = 0;
  for await (const item of nova.executions.list({ workflow, limit: 25 })) {
    if (isOpen(item)) continue;
    yield* newestFirst(await readTrace(nova, item.execution_id, { full }));
    if (++read === max) return;
  }
}

/**
 * Yields the recorded runs of one execution. Throws `ApiProblem`, or `InvalidInput` if the execution ran another
 * workflow.
 */
export async function* runsOfExecution(nova: NovaClient, workflow: string, id: string): AsyncGenerator<Recorded> {
  const { workflow: ran } = await readWhole(nova, id);
  if (ran !== workflow) {
    const wayOut = `nova executions --workflow ${workflow} lists its own`;
    throw new InvalidInput(`execution ${id} ran the workflow "${ran}", not "${workflow}" - ${wayOut}`);
  }
  yield* newestFirst(await readTrace(nova, id, { full: true }));
}

function newestFirst(trace: ShownTrace): Recorded[] {
  return Array.from(listRecorded(trace)).reverse();
}

/**
 * Returns whether a recorded run used this code. If the code needs an analysis, the run must also have used the same
 * analysis.
 */
export function ranCode({ code, analysis }: Pick<LockedCode, "code" | "analysis">, { entry }: Recorded): boolean {
  if (entry.code_hash !== hashOf(code)) return false;
  return analysis === undefined || entry.ai_metadata?.analysis_metadata?.analysis_code === analysis;
}
