import type { ChainEntry } from "@nova/client";
import { texts } from "../../texts.ts";
import { findItem, findMap, isReused, type NodeState, summarizeVisits, type Visit } from "./run-model.ts";

/** A line of the timeline: one visit, or all items of a map. */
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

/** Maps with at most this many visits in their items are not folded. */
const maxUnfolded = 8;

/** Builds the lines in order of their start. `opened` contains the keys of unfolded lines. */
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

/** Returns the key of the map that contains the visit, if any. */
function findFold({ execution, scope }: Visit): string | undefined {
  const map = findMap(scope);
  return map === undefined ? undefined : `${execution} ${map}`;
}

function createLine(visit: Visit, nowMs: number): Line {
  const item = findItem(visit.scope);
  return {
    key: visit.key,
    name: visit.node,
    note: item === undefined ? "" : String(item),
    state: visit.state,
    segments: buildSegments(visit, nowMs),
    isInside: item !== undefined || visit.node !== visit.id,
    visit,
    fold: undefined,
  };
}

/** Joins the items of a map into one line, because a single item among thousands would be invisible. */
function createFoldedLine(key: string, inside: readonly Visit[], isOpen: boolean, nowMs: number): Line {
  const { counts, state } = summarizeVisits(inside);
  const byItem = Map.groupBy(inside, ({ scope }) => findItem(scope));
  const reused = Array.from(byItem.values()).filter((visits) => visits.every(isReused)).length;
  const segments = inside
    .flatMap((visit) => buildSegments(visit, nowMs))
    .filter(({ part }) => part === "code" || part === "model");
  return {
    key,
    name: findMap(inside[0]?.scope ?? "") ?? "",
    note: texts.run.itemsBy({ items: byItem.size, failed: counts.failed ?? 0, reused }),
    state,
    segments: mergeSegments(segments),
    isInside: false,
    visit: undefined,
    fold: { isOpen },
  };
}

export type Part = "queue" | "sandbox" | "model" | "code" | "waiting";

interface Segment extends Span {
  part: Part;
}

const waitingTypes = new Set(["approval", "wait", "workflow"]);

function mergeSegments(segments: readonly Segment[]): Segment[] {
  const all: Segment[] = [];
  for (const segment of segments.toSorted((a, b) => a.from - b.from)) {
    const before = all.at(-1);
    if (before && segment.from <= before.to) before.to = Math.max(before.to, segment.to);
    else all.push({ ...segment });
  }
  return all;
}

/** Splits the time of a visit into segments without gaps. Time that no record explains was spent on the sandbox. */
function buildSegments(visit: Visit, nowMs: number): Segment[] {
  const { entry, work, from, state } = visit;
  const to = visit.to ?? Math.max(nowMs, from);
  if (entry && waitingTypes.has(entry.node_type)) return [{ from, to, part: "waiting" }];
  if (!entry) return [{ from, to, part: work?.waits_for ? "waiting" : state === "next" ? "queue" : "code" }];
  if (entry.reused_from || entry.execution_time_ms === 0) {
    return to > from ? [{ from, to, part: "queue" }] : [];
  }
  const recorded = listRecordedSpans(entry, to).filter((span) => span.to > span.from);
  return fillGaps({ from, to }, recorded, "sandbox");
}

/**
 * Lists the periods that records explain. Steps record their end and duration. If there are no steps, the code ran at
 * the end of the visit.
 */
function listRecordedSpans({ steps, execution_time_ms }: ChainEntry, end: number): Segment[] {
  const agentSteps = steps.filter(({ step_number }) => step_number > 0);
  if (agentSteps.length === 0) return [{ from: end - execution_time_ms, to: end, part: "code" }];
  return agentSteps.flatMap(({ timestamp, execution_time_ms: ms, run_time_ms: ran = 0, model_used }): Segment[] => {
    const to = Date.parse(timestamp);
    const isModel = model_used !== null;
    const middle = to - (isModel ? ran : ms);
    return [
      { from: to - ms, to: middle, part: "model" },
      { from: middle, to, part: "code" },
    ];
  });
}

function fillGaps(whole: Span, recorded: readonly Segment[], between: Part): Segment[] {
  const all: Segment[] = [];
  let end = whole.from;
  for (const span of recorded.toSorted((a, b) => a.from - b.from)) {
    const from = Math.max(span.from, end);
    if (from > end) all.push({ from: end, to: from, part: between });
    if (span.to > from) all.push({ ...span, from });
    end = Math.max(end, span.to);
  }
  if (end < whole.to) all.push({ from: end, to: whole.to, part: between });
  return all;
}

/** A period in milliseconds since 1970. */
export interface Span {
  from: number;
  to: number;
}

interface Gap extends Span {
  /** The start as a share of the width. */
  at: number;
  width: number;
}

export interface Scale {
  /** Returns the position of a time as a share of the width, 0 to 1. */
  at(ms: number): number;
  /** Idle periods that are drawn shorter than they are. */
  gaps: readonly Gap[];
}

/** Idle periods below this length are drawn in proportion. */
const leastIdleMs = 1500;
/**
 * All long idle periods together are drawn as wide as `gapsShare` of the busy time, but each at least as wide as
 * `gapShare`.
 */
const gapsShare = 0.3;
const gapShare = 0.06;

/** Builds a scale that shortens long idle periods, so that busy periods stay visible. */
export function buildScale(whole: Span, busy: readonly Span[]): Scale {
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
  // Prevents a division by zero if the whole period was idle.
  const drawnMs = whole.to - whole.from - lost(whole.to) || 1;
  const at = (ms: number) => Math.min(1, Math.max(0, (ms - whole.from - lost(ms)) / drawnMs));
  return { at, gaps: long.map((gap) => ({ ...gap, at: at(gap.from), width: at(gap.to) - at(gap.from) })) };
}

function findIdleSpans(whole: Span, busy: readonly Span[]): Span[] {
  const idle: Span[] = [];
  let end = whole.from;
  for (const { from, to } of busy.toSorted((a, b) => a.from - b.from)) {
    if (from > end) idle.push({ from: end, to: Math.min(from, whole.to) });
    end = Math.max(end, to);
  }
  if (end < whole.to) idle.push({ from: end, to: whole.to });
  return idle;
}
