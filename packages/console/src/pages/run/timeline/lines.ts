import { texts } from "../../../texts.ts";
import { isReused, itemOf, mapOf, type NodeState, stateOf, type Visit } from "../model/visits.ts";
import { merged, type Segment, segmentsOf } from "./segments.ts";

/** A line of the timeline: a visit, or all items of a map together. */
export interface Line {
  key: string;
  name: string;
  note: string;
  state: NodeState["state"];
  segments: readonly Segment[];
  isInside: boolean;
  visit: Visit | undefined;
  fold: { isOpen: boolean } | undefined;
}

/** Fewer visits in items are told one by one. */
const maxUnfolded = 8;

/** In the order in which they began. `opened`: keys of the folded lines whose items are told. */
export function linesOf(visits: readonly Visit[], opened: ReadonlySet<string>, nowMs: number): Line[] {
  const shown = visits
    .filter(({ entry }) => entry?.node_type !== "start" && entry?.node_type !== "end")
    .toSorted((a, b) => a.from - b.from);
  const folds = Map.groupBy(shown, foldOf);
  return shown.flatMap((visit): Line[] => {
    const fold = foldOf(visit);
    const inside = fold === undefined ? undefined : folds.get(fold);
    if (fold === undefined || !inside || inside.length <= maxUnfolded) return [lineOf(visit, nowMs)];
    const isOpen = opened.has(fold);
    const head = visit === inside[0] ? [foldedLine(fold, inside, isOpen, nowMs)] : [];
    return [...head, ...(isOpen ? [lineOf(visit, nowMs)] : [])];
  });
}

/** The map, where a visit is in one of its items. */
function foldOf({ execution, scope }: Visit): string | undefined {
  const map = mapOf(scope);
  return map === undefined ? undefined : `${execution} ${map}`;
}

function lineOf(visit: Visit, nowMs: number): Line {
  const item = itemOf(visit.scope);
  return {
    ...{ key: visit.key, name: visit.node, note: item === undefined ? "" : String(item), state: visit.state },
    segments: segmentsOf(visit, nowMs),
    ...{ isInside: item !== undefined || visit.node !== visit.id, visit, fold: undefined },
  };
}

/** What ran at the same time is one bar: of thousands of items no single one could be seen. */
function foldedLine(key: string, inside: readonly Visit[], isOpen: boolean, nowMs: number): Line {
  const { counts, state } = stateOf(inside);
  const byItem = Map.groupBy(inside, ({ scope }) => itemOf(scope));
  const reused = Array.from(byItem.values()).filter((visits) => visits.every(isReused)).length;
  const segments = inside
    .flatMap((visit) => segmentsOf(visit, nowMs))
    .filter(({ part }) => part === "code" || part === "model");
  return {
    ...{
      key,
      name: mapOf(inside[0]?.scope ?? "") ?? "",
      note: texts.run.itemsBy({ items: byItem.size, failed: counts.failed ?? 0, reused }),
      state,
    },
    ...{ segments: merged(segments), isInside: false, visit: undefined, fold: { isOpen } },
  };
}
