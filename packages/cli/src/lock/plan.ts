import { type Generator, generationKey, ingredientsToday } from "@nova/agents";
import type { Generation } from "@nova/engine";
import { type LockedCode, type LockRecord, lockedCodeOf, type ReadLock } from "@nova/workflow";
import { defined } from "@nova/workflow/defined";
import { InvalidInput } from "../errors.ts";
import { type EditSources, takeEdit } from "./edited.ts";
import type { LockFolder, PromptNode } from "./folder.ts";
import { hasRun } from "./recorded.ts";

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
export interface PlanSources extends EditSources {
  /** Everything that is kept of the workflow. */
  generations: readonly Generation[];
}

/** The code that shall be locked, node by node. */
export function planLock(folder: LockFolder, sources: PlanSources): Promise<Planned[]> {
  return Promise.all(folder.prompts.map((prompt) => planNode(prompt, folder.entries[prompt.node.id], sources)));
}

async function planNode(prompt: PromptNode, entry: ReadLock | undefined, sources: PlanSources): Promise<Planned> {
  const node = prompt.node.id;
  if (entry?.state === "edited") return { node, action: "edited", locked: await takeEdit(prompt, entry, sources) };
  if (entry?.state === "missing" && entry.edited !== undefined) {
    // To restore one would undo the other, and neither runs alone.
    const half = `${entry.edited} was edited, and ${entry.file}, which it needs, is not there`;
    throw new InvalidInput(`node "${node}": ${half} - take ${entry.file} from version control`);
  }
  const found = generationFor(prompt, entry, sources);
  const current = entry?.state === "locked" ? lockedCodeOf(entry) : undefined;
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
  if (locked.provenBy !== undefined || !last || !hasRun(locked, last)) {
    return { node, action: "unchanged", locked };
  }
  return { node, action: "updated", locked: { ...locked, provenBy: last.execution.id } };
}

/** What ran last, else the newest that is kept: written for the node as it is now, and no news where it is locked. */
function generationFor(prompt: PromptNode, entry: ReadLock | undefined, sources: PlanSources): Generation | undefined {
  const { generator, generations, used } = sources;
  const fresh = generations
    .filter((one) => one.node === prompt.node.id && isFresh(prompt, one, generator))
    .sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
  const last = used(prompt.node.id);
  const ran = last && fresh.find((one) => hasRun(one, last));
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
  const { format: _format, workflowId: _id, node: _node, client: _client, status: _status, ...kept } = generation;
  const { approved, ...locked } = kept;
  return { ...locked, ...defined({ approved: before?.codeHash === kept.codeHash ? before.approved : approved }) };
}
