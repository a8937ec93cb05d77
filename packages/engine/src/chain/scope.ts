import type { LinkId } from "../ports/chain.ts";

/** What a branch's scope says of it: the fork's link, and which of its branches this is. */
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

/** An id begins with a letter, so a branch that is digits is an item of a map. */
export function isItem(branch: string): boolean {
  return /^\d+$/.test(branch);
}

/** The items that a scope is in, outermost first, and the outermost map; nothing where it is in no map. */
export function itemsOf(scope: string): { map?: string; items?: number[] } {
  const found = Array.from(scope.matchAll(/\/([^/@]+)@\d+\.(\d+)(?=\/|$)/g));
  const map = found[0]?.[1];
  return map === undefined ? {} : { map, items: found.map(([, , number]) => Number(number)) };
}
