import type { Execution } from "@nova/client";
import { normalizeMessage } from "../run/fix/failed-line.ts";

/** Failures with the same cause, as far as their records tell: the same node and class, and a similar message. */
export type FailureGroup = ReturnType<typeof createGroup>;

/**
 * Groups failed runs, the largest group first. `firstVersions` contains the oldest version of each workflow that ran in
 * the same period.
 */
export function groupFailures(
  runs: readonly Execution[],
  firstVersions: ReadonlyMap<string, number> = new Map(),
): FailureGroup[] {
  const failed = runs.filter(({ error }) => error !== null);
  const groups = Map.groupBy(failed, ({ workflow, error }) =>
    [workflow, error?.node, error?.class, normalizeMessage(error?.message ?? "")].join("\n"),
  );
  return Array.from(groups, ([key, same]) => createGroup(key, same, firstVersions)).sort(
    (a, b) => b.runs.length - a.runs.length || compareNewest(a, b),
  );
}

function createGroup(key: string, same: readonly Execution[], firstVersions: ReadonlyMap<string, number>) {
  const runs = same.toSorted((a, b) => b.started_at.localeCompare(a.started_at));
  const { workflow, error } = runs[0] as Execution;
  const versions = [...new Set(runs.map(({ version }) => version))].sort((a, b) => a - b);
  const [first = 1] = versions;
  return {
    key,
    workflow,
    node: error?.node ?? "",
    class: error?.class ?? "",
    /** The message of the newest failure. */
    message: error?.message ?? "",
    /** The failed runs, newest first. */
    runs,
    /** The runs that can be restarted: no child run, and not restarted before. */
    restartable: runs.filter(({ restarts, parent }) => restarts.length === 0 && !parent),
    /** The versions of the failed runs, in ascending order. */
    versions,
    /**
     * The version with which the failure appeared. Undefined unless the page knows runs of an earlier version, and none
     * of these runs failed in this way.
     */
    newSince: (firstVersions.get(workflow) ?? first) < first ? first : undefined,
  };
}

function compareNewest(a: FailureGroup, b: FailureGroup): number {
  return (b.runs[0]?.started_at ?? "").localeCompare(a.runs[0]?.started_at ?? "");
}
