/** A period in milliseconds since 1970. */
export interface Span {
  from: number;
  to: number;
}

export interface Gap extends Span {
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

/** Shorter idle periods keep their length. */
const leastIdleMs = 1500;
/** Long idle periods together take `gapsShare` of the busy time, and each at least `gapShare`. */
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
