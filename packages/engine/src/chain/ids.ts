import { createHash } from "node:crypto";
import { ulid } from "ulid";
import type { EntryId } from "../ports/chain.ts";
import { sha256 } from "../sha256.ts";

export interface BranchPlace {
  parent: string;
  /** The `node_id` of the entry of the fork. */
  fork: string;
  seq: number;
  /** Id of the branch's first node, or decimal index of a map's item. */
  branch: string;
}

const lastSegment = /^(.*)\/([^/@]+)@(\d+)\.([^/.]+)$/;

/** Parses the innermost branch of a scope. Returns null for the main line. */
export function branchOf(scope: string): BranchPlace | null {
  const [, parent = "", fork = "", seq = "", branch = ""] = lastSegment.exec(scope) ?? [];
  return fork === "" ? null : { parent, fork, seq: Number(seq), branch };
}

export function branchScope({ scope, seq }: Omit<EntryId, "execution">, fork: string, branch: string): string {
  return `${scope}/${fork}@${seq}.${branch}`;
}

/** The last part of the name of a scope with votes. No node can have this id. */
export const votesMark = "(votes)";

/** The inner scope with the votes on an approval whose own entry has the number `seq`. */
export function votesScope({ scope, seq }: Omit<EntryId, "execution">, node: string): string {
  return branchScope({ scope, seq }, node, votesMark);
}

/** Whether a branch is an item of a map. Ids start with a letter, so only an item consists of digits. */
export function isItem(branch: string): boolean {
  return /^\d+$/.test(branch);
}

/**
 * Finds the outermost map around a scope, and the item numbers from outside to inside. The result is empty for a scope
 * outside maps.
 */
export function itemsOf(scope: string): { map?: string; items?: number[] } {
  const found = Array.from(scope.matchAll(/\/([^/@]+)@\d+\.(\d+)(?=\/|$)/g));
  const map = found[0]?.[1];
  return map === undefined ? {} : { map, items: found.map(([, , number]) => Number(number)) };
}

export type Identified = { key: string; codeHash: string };

/**
 * Returns the id by which entries and turns name pinned code. The hash is part of the id, because code that failed and
 * its replacement have the same key.
 */
export function generationId({ key, codeHash }: Identified): string {
  return `${key}.${codeHash.slice(0, 16)}`;
}

/**
 * The longest scope in a file name. Scopes have no limit but file names do (255 bytes), so the hash replaces a longer
 * scope.
 */
const longestScope = 120;

/** The name of an entry for claims and tombstones: unique over all executions, and safe as a file name. */
export function entryName({ execution, scope, seq }: EntryId): string {
  const place = scope.length <= longestScope ? scope.replaceAll("/", "+") : `+${sha256(scope)}`;
  return `${execution}${place}.${seq}`;
}

/** Returns the id of a waiting node's task. All deliveries compute the same id, so they create one task. */
export function taskId(at: EntryId, since: string): string {
  return `task_${ulidOf(at, since)}`;
}

/**
 * Returns the id of the execution that a workflow node runs. All deliveries compute the same id. The salt makes it
 * differ from the id of a task.
 */
export function childId(at: EntryId, since: string): string {
  return `exec_${ulidOf(at, since, "child ")}`;
}

/**
 * Builds a ULID that is the same in all deliveries. Its time is the time of the turn, which exactly one delivery wrote.
 * Its random part is a hash of the id of the entry.
 */
function ulidOf({ execution, scope, seq }: EntryId, since: string, salt = ""): string {
  return ulidFrom(Date.parse(since), `${salt}${execution}${scope}#${seq}`);
}

export function ulidFrom(ms: number, text: string): string {
  const bytes = createHash("sha256").update(text).digest();
  let next = 0;
  return ulid(ms, () => (bytes[next++] ?? 0) / 256);
}
