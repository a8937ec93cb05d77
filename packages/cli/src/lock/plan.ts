import { type Generator, generationKey, ingredientsOf, ingredientsToday, type Read } from "@nova/agents";
import { type Generation, type Member, membersOf } from "@nova/engine";
import { hashOf, type LockedCode, type LockRecord, type ReadLock } from "@nova/workflow";
import type { LockFolder, PromptNode } from "./folder.ts";
import type { Recorded } from "./recorded.ts";

/**
 * `added`, `updated`: from an execution, or from what is kept; `edited`: the file as somebody changed it; `restored`: the
 * file was gone; `unchanged`; `none`: there is no code for the node as it is now.
 */
export type PlanAction = "added" | "updated" | "edited" | "restored" | "unchanged" | "none";

export interface Planned {
  node: string;
  action: PlanAction;
  /** Absent where there is none. */
  locked?: LockedCode;
}

/** What a plan is made from. */
export interface PlanSources {
  /** The code that the node ran last, with success; null where it is not known. */
  used(node: string): Recorded | null;
  /** Everything that is kept of the workflow. */
  generations: readonly Generation[];
  generator: Generator;
  readsOf(source: string): Promise<readonly Read[]>;
  /** ISO 8601. */
  now: string;
}

/** The code that shall be locked, node by node. */
export function planLock(folder: LockFolder, sources: PlanSources): Promise<Planned[]> {
  return Promise.all(folder.prompts.map((prompt) => planNode(prompt, folder.entries[prompt.node.id], sources)));
}

async function planNode(prompt: PromptNode, entry: ReadLock | undefined, sources: PlanSources): Promise<Planned> {
  const node = prompt.node.id;
  if (entry?.state === "edited") return { node, action: "edited", locked: await edited(prompt, entry, sources) };
  const found = generationFor(prompt, entry, sources);
  const current = entry?.state === "locked" ? { ...entry.record, code: entry.code } : undefined;
  if (!found) return current ? provenNow(node, current, sources) : { node, action: "none" };
  const locked = lockedFrom(found, entry?.record);
  if (entry?.state === "missing") return { node, action: "restored", locked };
  if (!current) return { node, action: "added", locked };
  const isSame = current.key === locked.key && current.codeHash === locked.codeHash;
  return isSame ? provenNow(node, current, sources) : { node, action: "updated", locked };
}

/** The same code as before; an edit that has run with success since is proven by that. */
function provenNow(node: string, locked: LockedCode, { used }: PlanSources): Planned {
  const last = used(node);
  if (locked.provenBy !== undefined || last?.entry.code_hash !== locked.codeHash) {
    return { node, action: "unchanged", locked };
  }
  return { node, action: "updated", locked: { ...locked, provenBy: last.execution.id } };
}

/**
 * What the last run used, else the newest that is kept, candidates too; in any case only what was written for the node
 * as it is now. The locked code itself is no news.
 */
function generationFor(prompt: PromptNode, entry: ReadLock | undefined, sources: PlanSources): Generation | undefined {
  const { generator, generations, used } = sources;
  const fresh = generations
    .filter((one) => one.node === prompt.node.id && isFresh(prompt, one, generator))
    .sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
  const last = used(prompt.node.id)?.entry.code_hash;
  const ran = fresh.find(({ codeHash }) => codeHash === last);
  if (ran) return ran;
  const isLocked = entry && isFresh(prompt, entry.record, generator);
  if (isLocked && entry.state === "locked") return undefined;
  const own = isLocked ? fresh.find(({ codeHash }) => codeHash === entry.record.codeHash) : undefined;
  return own ?? fresh.find(({ status }) => status === "pinned") ?? fresh.find(({ status }) => status === "candidate");
}

function isFresh(prompt: PromptNode, { key, ingredients }: Pick<Generation, "key" | "ingredients">, today: Generator) {
  return generationKey(ingredientsToday(prompt, today, ingredients)) === key;
}

/** Approval is of the code: what was approved before, unchanged, still is. */
function lockedFrom(generation: Generation, before: LockRecord | undefined): LockedCode {
  const { key, ingredients, code, codeHash, origin, model, cost, createdAt, provenBy } = generation;
  const approved = before?.codeHash === codeHash ? before.approved : generation.approved;
  const proof = { ...(provenBy !== undefined && { provenBy }), ...(approved && { approved }) };
  return { key, ingredients, code, codeHash, origin, model, cost, createdAt, ...proof };
}

/** Nobody has proven or approved an edit; what it reads is looked up in the last input of the node. */
async function edited(
  prompt: PromptNode,
  { code, record }: ReadLock & { state: "edited" },
  { used, generator, readsOf, now }: PlanSources,
): Promise<LockedCode> {
  const { provenBy: _, approved: _approved, ...kept } = record;
  const input = inputOf(used(prompt.node.id));
  const guides = Object.keys(record.ingredients.guides);
  const ingredients = ingredientsOf({ ...prompt, input }, generator, { reads: await readsOf(code), guides });
  for (const [name, type] of Object.entries(ingredients.reads)) {
    if (type === "any") ingredients.reads[name] = record.ingredients.reads[name] ?? type;
  }
  const key = generationKey(ingredients);
  return { ...kept, key, ingredients, code, codeHash: hashOf(code), origin: "edited", createdAt: now };
}

function inputOf(recorded: Recorded | null): Member[] {
  const input = recorded?.entry.input_context;
  return input ? membersOf(input.text) : [];
}
