import type { Execution } from "@nova/client";
import { normalizeMessage } from "../run/fix/failed-line.ts";

/** Failed runs that seem to have the same cause: the same node and error class, and a similar message. */
export type FailureGroup = ReturnType<typeof createGroup>;

/**
 * Groups failed runs by their cause, the largest group first. `firstVersions` contains, by workflow, the oldest version
 * that ran in the same period.
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
    /** The runs that can be restarted: child runs and runs that a user has restarted before are left out. */
    restartable: runs.filter(({ restarts, parent }) => restarts.length === 0 && !parent),
    /** The versions of the failed runs, in ascending order. */
    versions,
    /**
     * The version in which the failure appeared first. Undefined unless the page knows runs of an earlier version
     * without this failure.
     */
    newSince: (firstVersions.get(workflow) ?? first) < first ? first : undefined,
  };
}

function compareNewest(a: FailureGroup, b: FailureGroup): number {
  return (b.runs[0]?.started_at ?? "").localeCompare(a.runs[0]?.started_at ?? "");
}
