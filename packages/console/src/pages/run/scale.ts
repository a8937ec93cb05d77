/** A stretch of time, in milliseconds since 1970. */
export interface Span {
  from: number;
  to: number;
}

export interface Gap extends Span {
  /** Share of the width at which it is drawn. */
  at: number;
  width: number;
}

export interface Scale {
  /** Share of the width, 0 to 1. */
  at(ms: number): number;
  /** Stretches in which nothing ran, drawn shorter than they are. */
  gaps: readonly Gap[];
}

/** Idle time that is shown as long as it was. */
const leastIdleMs = 1500;
/** Of the time in which something ran: all longer idle stretches are drawn that long together, each at least that long. */
const gapsShare = 0.3;
const gapShare = 0.06;

/** Puts times on a line on which what ran has room, however long was waited in between. */
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
  // Less than a millisecond where everything was idle.
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
