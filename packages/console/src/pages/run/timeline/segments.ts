import type { ChainEntry } from "@nova/client";
import type { Visit } from "../model/visits.ts";
import type { Span } from "./scale.ts";

/** What the time of a node went into. */
export type Part = "queue" | "sandbox" | "model" | "code" | "waiting";

export interface Segment extends Span {
  part: Part;
}

const waitingTypes = new Set(["approval", "wait", "workflow"]);

/** Stretches of the same kind that touch or overlap become one. */
export function merged(segments: readonly Segment[]): Segment[] {
  const all: Segment[] = [];
  for (const segment of segments.toSorted((a, b) => a.from - b.from)) {
    const before = all.at(-1);
    if (before && segment.from <= before.to) before.to = Math.max(before.to, segment.to);
    else all.push({ ...segment });
  }
  return all;
}

/** The parts of a visit, in order, without holes: what no record explains went into getting and preparing a sandbox. */
export function segmentsOf(visit: Visit, nowMs: number): Segment[] {
  const { entry, work, from, state } = visit;
  const to = visit.to ?? Math.max(nowMs, from);
  if (entry && waitingTypes.has(entry.node_type)) return [{ from, to, part: "waiting" }];
  if (!entry) return [{ from, to, part: work?.waits_for ? "waiting" : state === "next" ? "queue" : "code" }];
  if (entry.reused_from || entry.execution_time_ms === 0) {
    return to > from ? [{ from, to, part: "queue" }] : [];
  }
  const known = knownSpans(entry, to).filter((span) => span.to > span.from);
  return filled({ from, to }, known, "sandbox");
}

/** Steps say when they ended and how long they took; of other nodes the run of the code was last. */
function knownSpans({ steps, execution_time_ms }: ChainEntry, end: number): Segment[] {
  const asked = steps.filter(({ step_number }) => step_number > 0);
  if (asked.length === 0) return [{ from: end - execution_time_ms, to: end, part: "code" }];
  return asked.flatMap(({ timestamp, execution_time_ms: ms, run_time_ms: ran = 0, model_used }): Segment[] => {
    const to = Date.parse(timestamp);
    const isModel = model_used !== null;
    const middle = to - (isModel ? ran : ms);
    return [
      { from: to - ms, to: middle, part: "model" },
      { from: middle, to, part: "code" },
    ];
  });
}

function filled(whole: Span, known: readonly Segment[], between: Part): Segment[] {
  const all: Segment[] = [];
  let end = whole.from;
  for (const span of known.toSorted((a, b) => a.from - b.from)) {
    const from = Math.max(span.from, end);
    if (from > end) all.push({ from: end, to: from, part: between });
    if (span.to > from) all.push({ ...span, from });
    end = Math.max(end, span.to);
  }
  if (end < whole.to) all.push({ from: end, to: whole.to, part: between });
  return all;
}
