import {
  type Generator,
  generationKey,
  ingredientsOf,
  ingredientsToday,
  needsAnalysis,
  type Read,
  readsTogether,
} from "@nova/agents";
import { type Generation, membersOf } from "@nova/engine";
import { codeHashOf, hashOf, type LockedCode, type LockRecord, lockedCodeOf, type ReadLock } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import { InvalidInput } from "../errors.ts";
import type { Recorded } from "../replay/recorded.ts";
import type { LockFolder, PromptNode } from "./folder.ts";
import { ranCode } from "./recorded.ts";

/**
 * `added`, `updated`: the code of an execution, or stored code; `edited`: the user's edit of the file; `restored`: the
 * file was missing; `none`: there is no code for the current definition of the node.
 */
export type PlanAction = "added" | "updated" | "edited" | "restored" | "unchanged" | "none";

export interface Planned {
  node: string;
  action: PlanAction;
  /** Absent: the node has no code. */
  locked?: LockedCode;
}

/** The data for a plan. */
export interface PlanSources extends EditSources {
  /** All stored code of the workflow. */
  generations: readonly Generation[];
}

/** Plans the code to lock for every prompt node. */
export function planLock(folder: LockFolder, sources: PlanSources): Promise<Planned[]> {
  return Promise.all(folder.prompts.map((prompt) => planNode(prompt, folder.entries[prompt.node.id], sources)));
}

async function planNode(prompt: PromptNode, entry: ReadLock | undefined, sources: PlanSources): Promise<Planned> {
  const node = prompt.node.id;
  if (entry?.state === "edited") return { node, action: "edited", locked: await lockEdit(prompt, entry, sources) };
  if (entry?.state === "missing" && entry.edited !== undefined) {
    // Restoring the missing file would undo the edit, and neither file can run alone.
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

/** Keeps the locked code. An edit that has since run successfully counts as proven by that run. */
function keepLocked(node: string, locked: LockedCode, { used }: PlanSources): Planned {
  const last = used(node);
  if (locked.provenBy !== undefined || !last || !ranCode(locked, last)) {
    return { node, action: "unchanged", locked };
  }
  return { node, action: "updated", locked: { ...locked, provenBy: last.execution.id } };
}

/**
 * The code to lock: that of the last run, else the newest stored code for the current definition. Undefined if the
 * locked code is current.
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

/** Approval belongs to the code, so unchanged code stays approved. */
function lockedFrom(generation: Generation, before: LockRecord | undefined): LockedCode {
  const { format: _format, workflowId: _id, node: _node, client: _client, status: _status, ...kept } = generation;
  const { approved, ...locked } = kept;
  return { ...locked, ...defined({ approved: before?.codeHash === kept.codeHash ? before.approved : approved }) };
}

/** The data that is needed to lock an edit. */
export interface EditSources {
  /** The code of the node's last successful run; null if it is unknown. */
  used(node: string): Recorded | null;
  generator: Generator;
  readsOf(source: string): Promise<readonly Read[]>;
  /** ISO 8601. */
  now: string;
}

/**
 * Locks code or an analysis that the user edited. An analysis that the code no longer needs is dropped. An edit has no
 * proof and no approval. The types of the keys that it reads come from the last input of the node.
 */
export async function lockEdit(
  prompt: PromptNode,
  { code, analysis: read, record }: ReadLock & { state: "edited" },
  sources: EditSources,
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
