import { isReused, type Visit } from "./run-model.ts";

/** The items of one visit of a map: how many ran, and their failures by error. */
export interface MapReport {
  items: number;
  begun: number;
  completed: number;
  failed: number;
  cancelled: number;
  reused: number;
  failures: Failure[];
}

interface Failure {
  key: string;
  node: string;
  class: string;
  message: string;
  visits: readonly Visit[];
}

/** Builds the report from the visits inside the map. An item ends with an entry that leads to no further node. */
export function reportItems({ entry, execution }: Visit, visits: readonly Visit[]): MapReport {
  const branches = entry?.branches ?? [];
  const scopes = new Set(branches.map(({ scope }) => scope));
  const ends = visits.filter((visit) => visit.execution === execution && scopes.has(visit.scope) && isEnd(visit));
  const failed = ends.filter(({ state }) => state === "failed");
  const groups = Map.groupBy(failed, ({ id, entry: end }) => `${id}\n${end?.error_class}\n${end?.error_message}`);
  const failures = Array.from(groups, ([key, same]): Failure => {
    const { id, entry: end } = same[0] as Visit;
    return { key, node: id, class: end?.error_class ?? "", message: end?.error_message ?? "", visits: same };
  });
  return {
    items: branches.length,
    begun: branches.filter(({ entries }) => entries.length > 0).length,
    completed: ends.filter(({ state }) => state === "success").length,
    failed: failed.length,
    cancelled: ends.filter(({ state }) => state === "cancelled").length,
    reused: ends.filter(isReused).length,
    failures: failures.sort((a, b) => b.visits.length - a.visits.length),
  };
}

function isEnd({ entry, join }: Visit): boolean {
  return (join ?? entry)?.path_taken === null;
}
