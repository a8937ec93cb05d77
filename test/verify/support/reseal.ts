import { keyAt, type Loose, sha256 } from "./make-proof.ts";
import type { Choices } from "./random.ts";

/**
 * Changes heads and then hashes and signs everything again, as a forger with NOVA's key would. The checks other than
 * hashes and signatures have to notice the change.
 */
export function changeAndReseal(proof: Loose, choices: Choices, change: (proof: Loose) => void): void {
  change(proof);
  const tips = new Map<string, string>();
  try {
    // A run comes before the runs that it started, and its entries contain the hashes of these runs. So the last run is
    // sealed first.
    for (const run of proof.runs.toReversed()) resealRun(run, tips, choices);
  } catch (error) {
    // A file that has lost the form of a proof has no hashes or signatures to correct.
    if (!(error instanceof TypeError)) throw error;
  }
}

function resealRun(run: Loose, tips: Map<string, string>, choices: Choices): void {
  const hashes = new Map<string, string>();
  const reseal = (scope: string, before: string | null): void => {
    const { entries = [] } = run.scopes.find((one: Loose) => one.scope === scope) ?? {};
    let prev = before;
    for (const [index, entry] of entries.entries()) {
      const head = parse(entry.head);
      if (head === undefined) continue;
      const seq = index + (scope === "" ? 0 : 1);
      head.prev = prev;
      if (head.child && tips.has(head.child.execution)) head.child.tip = tips.get(head.child.execution);
      if (head.digests?.branches && choices.chance(0.95))
        head.digests.branches = listBranches(run, scope, seq - 1, hashes);
      entry.head = JSON.stringify(head);
      prev = sha256(entry.head);
      hashes.set(scope, prev);
      for (const one of run.scopes) if (isBranchAt(one.scope, scope, seq)) reseal(one.scope, prev);
    }
  };
  reseal("", null);
  const last = run.scopes[0]?.entries.at(-1);
  const time = Date.parse(parse(last?.head ?? "")?.timestamp) / 1000;
  if (!last) return;
  tips.set(run.execution, sha256(last.head));
  run.signature = (keyAt(time) ?? keyAt(1.77e9))?.sign(`nova close v1\n${sha256(last.head)}`);
}

function parse(head: string): Loose {
  try {
    const value = JSON.parse(head);
    return value !== null && typeof value === "object" && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isBranchAt(scope: string, parent: string, seq: number): boolean {
  return scope.startsWith(`${parent}/`) && new RegExp(`^/[^/@]+@${seq}\\.[^/]*$`).test(scope.slice(parent.length));
}

function listBranches(run: Loose, parent: string, seq: number, hashes: Map<string, string>): string {
  const ends = run.scopes
    .filter(({ scope }: Loose) => isBranchAt(scope, parent, seq))
    .map(({ scope, entries }: Loose) => ({ scope, seq: entries.length, hash: hashes.get(scope) }));
  return sha256(JSON.stringify(ends));
}
