import type { LinkId } from "../ports/chain.ts";

/** The place of a branch according to its scope: the fork's link and the branch. */
export interface BranchPlace {
  /** Scope of the fork. */
  parent: string;
  /** `node_id` of the fork's link. */
  fork: string;
  /** Number of the fork's link. */
  seq: number;
  /** Id of the branch's first node, or decimal index of a map's item. */
  branch: string;
}

const lastSegment = /^(.*)\/([^/@]+)@(\d+)\.([^/.]+)$/;

/** Null on the main line. */
export function branchOf(scope: string): BranchPlace | null {
  const [, parent = "", fork = "", seq = "", branch = ""] = lastSegment.exec(scope) ?? [];
  return fork === "" ? null : { parent, fork, seq: Number(seq), branch };
}

export function branchScope({ scope, seq }: Omit<LinkId, "execution">, fork: string, branch: string): string {
  return `${scope}/${fork}@${seq}.${branch}`;
}

/** Ids start with a letter, so a branch of digits is an item of a map. */
export function isItem(branch: string): boolean {
  return /^\d+$/.test(branch);
}

/** The outermost map around a scope, and its item numbers from outside to inside; empty outside maps. */
export function itemsOf(scope: string): { map?: string; items?: number[] } {
  const found = Array.from(scope.matchAll(/\/([^/@]+)@\d+\.(\d+)(?=\/|$)/g));
  const map = found[0]?.[1];
  return map === undefined ? {} : { map, items: found.map(([, , number]) => Number(number)) };
}
