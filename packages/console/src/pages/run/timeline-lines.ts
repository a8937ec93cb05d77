import type { ChainEntry, TimeClass } from "@nova/client";
import { texts } from "../../texts.ts";
import { findItem, findMap, isReused, type NodeState, summarizeVisits, type Visit } from "./run-model.ts";

/** A line of the timeline: one visit, or all items of a map. */
export interface Line {
  key: string;
  name: string;
  note: string;
  state: NodeState["state"];
  /** The time from the start to the end of the line. */
  span: Span;
  segments: readonly Segment[];
  isInside: boolean;
  visit: Visit | undefined;
  /** For all items of a map: the end and the state of each item. */
  fold: { isOpen: boolean; items: readonly ItemEnd[] } | undefined;
}

export interface ItemEnd {
  at: number;
  state: NodeState["state"];
}

/** A map starts folded only if its items have more visits than this. */
const maxUnfolded = 8;

/** Builds the lines in order of their start. `opened` contains the ids of unfolded maps. */
export function buildLines(visits: readonly Visit[], opened: ReadonlySet<string>, nowMs: number): Line[] {
  const visible = visits
    .filter(({ entry }) => entry?.node_type !== "start" && entry?.node_type !== "end")
    .toSorted((a, b) => a.from - b.from);
  const folds = Map.groupBy(visible, findFold);
  return visible.flatMap((visit): Line[] => {
    const fold = findFold(visit);
    const inside = fold === undefined ? undefined : folds.get(fold);
    if (fold === undefined || !inside || inside.length <= maxUnfolded) return [createLine(visit, nowMs)];
    const isOpen = opened.has(fold);
    const head = visit === inside[0] ? [createFoldedLine(fold, inside, isOpen, nowMs)] : [];
    return [...head, ...(isOpen ? [createLine(visit, nowMs)] : [])];
  });
}

/** Returns the id in the graph of the map that contains the visit; undefined outside maps. */
export function findFold({ node, id, scope }: Visit): string | undefined {
  const map = findMap(scope);
  return map === undefined ? undefined : `${node.slice(0, node.length - id.length)}${map}`;
}

function createLine(visit: Visit, nowMs: number): Line {
  const item = findItem(visit.scope);
  return {
    key: visit.key,
    name: visit.node,
    note: item === undefined ? "" : String(item),
    state: visit.state,
    span: spanOf([visit], nowMs),
    segments: buildSegments(visit, nowMs),
    isInside: item !== undefined || visit.node !== visit.id,
    visit,
    fold: undefined,
  };
}

function spanOf(visits: readonly Visit[], nowMs: number): Span {
  const from = visits.reduce((least, visit) => Math.min(least, visit.from), Number.POSITIVE_INFINITY);
  return { from, to: visits.reduce((most, { to }) => Math.max(most, to ?? nowMs), from) };
}

/** Joins the items of a map into one line, because a single item among thousands would be invisible. */
function createFoldedLine(key: string, inside: readonly Visit[], isOpen: boolean, nowMs: number): Line {
  const { state } = summarizeVisits(inside);
  const failed = inside.filter((visit) => visit.state === "failed").length;
  const byItem = Map.groupBy(inside, ({ scope }) => findItem(scope));
  const reused = Array.from(byItem.values()).filter((visits) => visits.every(isReused)).length;
  const segments = inside
    .flatMap((visit) => buildSegments(visit, nowMs))
    .filter(({ part }) => part === "code" || part === "model" || part === "running");
  const ended = Array.from(byItem.values()).filter((visits) => visits.every(({ to }) => to !== null));
  const items = ended.map((visits): ItemEnd => {
    return { at: spanOf(visits, nowMs).to, state: summarizeVisits(visits).state };
  });
  return {
    key,
    name: findMap(inside[0]?.scope ?? "") ?? "",
    note: texts.run.itemsBy({ items: byItem.size, begun: byItem.size, failed, reused }),
    state,
    span: spanOf(inside, nowMs),
    segments: mergeSegments(segments),
    isInside: false,
    visit: undefined,
    fold: { isOpen, items },
  };
}

/**
 * A class of the time of a visit. `running`: the node has no entry yet, so no record says which classes its time has.
 */
export type Part = TimeClass | "running";

interface Segment extends Span {
  part: Part;
}

function mergeSegments(segments: readonly Segment[]): Segment[] {
  const all: Segment[] = [];
  for (const segment of segments.toSorted((a, b) => a.from - b.from)) {
    const before = all.at(-1);
    if (before && segment.from <= before.to) before.to = Math.max(before.to, segment.to);
    else all.push({ ...segment });
  }
  return all;
}

/**
 * Returns the recorded times of a visit as segments. An entry records durations and the ends of steps, so the positions
 * of segments are approximate. The figures of a timeline come from the entries, not from segments.
 */
function buildSegments(visit: Visit, nowMs: number): Segment[] {
  const { entry, work, from, state } = visit;
  const to = visit.to ?? Math.max(nowMs, from);
  if (!entry) {
    const part: Part = work?.waits_for || state === "next" ? "waiting" : "running";
    return to > from ? [{ from, to, part }] : [];
  }
  const { waiting_ms, sandbox_ms } = entry.times;
  const pauses = listPauses(entry);
  const firstWaitMs = Math.max(0, waiting_ms - pauses.reduce((sum, pause) => sum + pause.to - pause.from, 0));
  const ready = from + firstWaitMs;
  const segments: Segment[] = [
    { from, to: ready, part: "waiting" },
    { from: ready, to: ready + sandbox_ms, part: "sandbox" },
    ...pauses,
    ...listRuns(entry, Date.parse(entry.timestamp)),
  ];
  return segments.filter((segment) => segment.to > segment.from);
}

/** Lists the waits between a failed attempt and the next one. */
function listPauses({ steps }: ChainEntry): Segment[] {
  return steps.flatMap(({ timestamp, retry_delay_ms: ms }): Segment[] => {
    const from = Date.parse(timestamp);
    return ms === undefined ? [] : [{ from, to: from + ms, part: "waiting" }];
  });
}

/**
 * Returns the segments in which models and code worked. A step records its end and its duration. The last run of
 * handwritten code is no step; it ends when the entry is written.
 */
function listRuns({ steps, times, ai_metadata, execution_time_ms }: ChainEntry, end: number): Segment[] {
  if (times.code_ms + times.model_ms === 0) return [];
  const runs = steps
    .filter(({ agent_name }) => agent_name !== "Node")
    .flatMap(({ timestamp, execution_time_ms: ms, run_time_ms: ran = 0, model_used }): Segment[] => {
      const to = Date.parse(timestamp);
      const middle = to - (model_used === null ? ms : ran);
      return [
        { from: to - ms, to: middle, part: "model" },
        { from: middle, to, part: "code" },
      ];
    });
  const hasOwnRun = ai_metadata === null || steps.length === 0;
  return hasOwnRun ? [...runs, { from: end - execution_time_ms, to: end, part: "code" }] : runs;
}

/** A period in milliseconds since 1970. */
export interface Span {
  from: number;
  to: number;
}

export type Scale = ReturnType<typeof buildScale>;

/** An idle period of at most this many milliseconds is not shortened, but drawn in proportion. */
const leastIdleMs = 1500;
/**
 * The timeline draws all long idle periods together as wide as `gapsShare` of the busy time, but each at least as wide
 * as `gapShare`.
 */
const gapsShare = 0.3;
const gapShare = 0.06;

/** Builds a scale that shortens long idle periods, so that busy periods stay visible. */
export function buildScale(whole: Span, busy: readonly Span[]) {
  const idle = findIdleSpans(whole, busy);
  const idleMs = idle.reduce((sum, { from, to }) => sum + to - from, 0);
  const busyMs = Math.max(1, whole.to - whole.from - idleMs);
  const long = idle.filter(({ from, to }) => to - from > Math.max(leastIdleMs, busyMs * gapShare));
  const gapMs = busyMs * Math.max(gapShare, gapsShare / long.length);
  const lost = (ms: number) =>
    long.reduce((sum, { from, to }) => {
      const inside = Math.min(Math.max(ms - from, 0), to - from);
      return sum + inside * Math.max(0, 1 - gapMs / (to - from));
    }, 0);
  // The milliseconds that the whole width shows. At least 1, so that no division by zero occurs.
  const drawnMs = whole.to - whole.from - lost(whole.to) || 1;
  /** Returns the position of a time as a share of the width, 0 to 1. */
  const at = (ms: number) => Math.min(1, Math.max(0, (ms - whole.from - lost(ms)) / drawnMs));
  /** Returns the time at a share of the width. */
  const timeAt = (share: number) => {
    let [from, to] = [whole.from, whole.to];
    while (to - from > 1) {
      const middle = (from + to) / 2;
      if (at(middle) < share) from = middle;
      else to = middle;
    }
    return Math.round(to);
  };
  /** Returns whether a period is at least partly inside the scale. */
  const isShown = ({ from, to }: Span) => to >= whole.from && from <= whole.to;
  /** Idle periods that are not drawn in proportion. `at` and `width` are shares of the whole width. */
  const gaps = long.map((gap) => ({ ...gap, at: at(gap.from), width: at(gap.to) - at(gap.from) }));
  return { at, timeAt, isShown, drawnMs, gaps };
}

function findIdleSpans(whole: Span, busy: readonly Span[]): Span[] {
  const idle: Span[] = [];
  let end = whole.from;
  const inside = busy.filter(({ from, to }) => to > whole.from && from < whole.to);
  for (const { from, to } of inside.sort((a, b) => a.from - b.from)) {
    if (from > end) idle.push({ from: end, to: Math.min(from, whole.to) });
    end = Math.max(end, to);
  }
  if (end < whole.to) idle.push({ from: end, to: whole.to });
  return idle;
}

/**
 * Parses a period in the address, such as `2000-4000`, in milliseconds since the start of the run. An invalid text
 * means the whole run.
 */
export function parsePeriod(text: string | undefined, whole: Span): Span {
  const [, from, to] = /^(\d{1,12})-(\d{1,12})$/.exec(text ?? "") ?? [];
  const period = { from: whole.from + Number(from), to: Math.min(whole.to, whole.from + Number(to)) };
  return period.from < period.to ? period : whole;
}

/** Formats a period for the address; undefined for the whole run. */
export function formatPeriod({ from, to }: Span, whole: Span): string | undefined {
  const isWhole = from <= whole.from && to >= whole.to;
  if (isWhole) return undefined;
  // A period has at least one millisecond.
  const start = Math.min(Math.floor(from - whole.from), Math.ceil(whole.to - whole.from) - 1);
  return `${start}-${Math.max(start + 1, Math.ceil(to - whole.from))}`;
}

/** Moves a period by `share` of its length, but keeps the period inside the run. */
export function shiftPeriod({ from, to }: Span, whole: Span, share: number): Span {
  const by = Math.min(whole.to - to, Math.max(whole.from - from, (to - from) * share));
  return { from: from + by, to: to + by };
}

/**
 * Multiplies the length of a period by `factor`. Keeps the middle of the period, and keeps the period inside the run.
 */
export function scalePeriod(period: Span, whole: Span, scale: Scale, factor: number): Span {
  if (factor < 1) return { from: scale.timeAt((1 - factor) / 2), to: scale.timeAt((1 + factor) / 2) };
  const more = ((period.to - period.from) * (factor - 1)) / 2;
  return { from: Math.max(whole.from, period.from - more), to: Math.min(whole.to, period.to + more) };
}

export const [second, minute, hour] = [1_000, 60_000, 3_600_000];
const steps = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 30].map((count) => count * second),
  ...[1, 2, 5, 10, 30].map((count) => count * minute),
  ...[1, 2, 6, 12, 24, 48, 168].map((count) => count * hour),
];
const mostTicks = 7;
/**
 * The minimum distance between two ticks, as a share of the width. Times of day with milliseconds need the larger
 * distance.
 */
const leastTickDistance = 0.09;
const leastClockDistance = 0.19;

/** A tick of the axis at a round time. `step` is the time between two ticks. */
export interface Tick {
  at: number;
  time: number;
  step: number;
}

export function listTicks(shown: Span, whole: Span, scale: Scale): Tick[] {
  const step = steps.find((ms) => scale.drawnMs / ms <= mostTicks) ?? (steps.at(-1) as number);
  const starts = [shown.from, ...scale.gaps.map(({ to }) => to)];
  const times = starts.flatMap((from, index) => {
    const to = scale.gaps[index]?.from ?? shown.to;
    const first = Math.ceil((from - whole.from) / step) * step;
    const count = Math.min(mostTicks, Math.floor((to - whole.from - first) / step)) + 1;
    return Array.from({ length: Math.max(0, count) }, (_, number) => whole.from + first + number * step);
  });
  const least = step < second && whole.to - whole.from >= minute ? leastClockDistance : leastTickDistance;
  const ticks: Tick[] = [];
  for (const time of times) {
    const at = scale.at(time);
    const isFree = at - (ticks.at(-1)?.at ?? Number.NEGATIVE_INFINITY) >= least;
    if (isFree && at <= 1 - least / 2) ticks.push({ at, time, step });
  }
  return ticks;
}

/** The number of positions on the width at which a mark can be. */
const markPlaces = 200;

/**
 * A mark of the item strip. It stands for the items that ended at about the same time, and has the state of these items
 * that needs the most attention.
 */
interface Mark extends ItemEnd {
  ended: number;
  failed: number;
}

export function listMarks(items: readonly ItemEnd[], scale: Scale): Mark[] {
  const shown = items.filter(({ at }) => scale.isShown({ from: at, to: at }));
  const byPlace = Map.groupBy(shown, ({ at }) => Math.round(scale.at(at) * markPlaces));
  return Array.from(byPlace, ([place, same]) => {
    const failed = same.filter(({ state }) => state === "failed").length;
    const state = failed > 0 ? "failed" : (same[0] as ItemEnd).state;
    return { at: place / markPlaces, state, ended: same.length, failed };
  });
}
