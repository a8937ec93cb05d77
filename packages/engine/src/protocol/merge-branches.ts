import type { Fork } from "@nova/workflow";
import { type Changes, type Context, isWithin } from "../context/context.ts";

/** What a decision sets is for the Choice behind it; it is not a result of its branch. */
export const decisionKey = "branch_decision";

export interface BranchContext {
  name: string;
  scope: string;
  /** As the branch's last entry left it. */
  context: Context;
}

/** What one branch made of one key; `json` null: it deleted it. */
interface Write {
  branch: string;
  json: string | null;
}

/** What the branches changed. Two different changes of one key are a problem, unless the fork says which counts. */
export function mergeBranches(
  before: Context,
  branches: readonly BranchContext[],
  { node, merge }: Pick<Fork, "node" | "merge">,
): Changes | { problem: string } {
  const writes = new Map<string, Write[]>();
  for (const branch of branches) {
    for (const [key, json] of writesOf(before, branch)) {
      writes.set(key, [...(writes.get(key) ?? []), { branch: branch.name, json }]);
    }
  }
  const changes: Changes = { set: [], delete: [] };
  for (const [key, all] of writes) {
    const conflict = merge === "unique" ? all.find(({ json }) => json !== all[0]?.json) : undefined;
    if (conflict) return { problem: conflictText(key, all[0] as Write, conflict, node) };
    const json = merge === "collect" ? collected(all) : (all.at(-1)?.json ?? null);
    if (json === null) changes.delete.push(key);
    else changes.set.push({ key, json });
  }
  return changes;
}

function writesOf(before: Context, { context, scope }: BranchContext): [key: string, json: string | null][] {
  const set = context.slots().filter(({ by, key }) => isWithin(by, scope) && key !== decisionKey);
  const deleted = before.slots().filter(({ key }) => !context.slot(key) && key !== decisionKey);
  return [
    ...set.map(({ key, json }): [string, string] => [key, json]),
    ...deleted.map(({ key }): [string, null] => [key, null]),
  ];
}

/** The only value, or the list of all; a deletion beside values counts for nothing. */
function collected(writes: readonly Write[]): string | null {
  const values = writes.flatMap(({ json }) => (json === null ? [] : [json]));
  return values.length > 1 ? `[${values.join(",")}]` : (values[0] ?? null);
}

function conflictText(key: string, one: Write, other: Write, fork: string): string {
  const what = one.json === null || other.json === null ? "one sets it, the other deletes it" : "each to another value";
  return `branches "${one.branch}" and "${other.branch}" both changed context[${JSON.stringify(key)}], ${what} - use two keys, or give node "${fork.replace(/\.join$/, "")}" "merge": "last" or "collect"`;
}
