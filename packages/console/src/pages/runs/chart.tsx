import type { Execution } from "@nova/client";
import { type JSX, useMemo } from "react";
import { getStatusTone, type RunStatus, statuses } from "../../parts/status.tsx";
import { formatClock, formatMoment } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";
import "./runs-page.css";

const bars = 60;

interface Bar {
  from: number;
  /** Runs of this period are not loaded. */
  isUnread: boolean;
  counts: Partial<Record<RunStatus, number>>;
  total: number;
}

interface ChartProps {
  /** Newest first. */
  items: readonly Execution[];
  rangeMs: number | undefined;
  /** Whether older runs exist that are not loaded. */
  hasMore: boolean;
}

/** Number of started runs over time, stacked by status. */
export function Chart({ items, rangeMs, hasMore }: ChartProps): JSX.Element {
  const { all, tallest, widthMs } = useMemo(() => buildBars(items, rangeMs, hasMore), [items, rangeMs, hasMore]);
  return (
    <figure className="chart" aria-label={texts.runs.chart(items.length)}>
      <div className="chart-bars" aria-hidden="true">
        {all.map((bar) => (
          <div
            key={bar.from}
            className={bar.isUnread ? "chart-bar chart-unread" : "chart-bar"}
            title={formatBarTitle(bar, widthMs)}
          >
            {statuses.map((status) => {
              const count = bar.counts[status] ?? 0;
              if (count === 0) return null;
              const height = `${(count / tallest) * 100}%`;
              return <span key={status} className={`tone-${getStatusTone(status)}`} style={{ height }} />;
            })}
          </div>
        ))}
      </div>
      <figcaption className="chart-legend">
        {statuses.map((status) => {
          const count = items.reduce((sum, item) => sum + (item.status === status ? 1 : 0), 0);
          if (count === 0) return null;
          return (
            <span key={status} className={`chart-key tone-${getStatusTone(status)}`}>
              {texts.status[status]} <b>{count.toLocaleString("en")}</b>
            </span>
          );
        })}
        <span className="chart-span">
          {formatMoment(all[0]?.from ?? 0)} – {formatMoment((all.at(-1)?.from ?? 0) + widthMs)}
        </span>
      </figcaption>
    </figure>
  );
}

function formatBarTitle({ from, counts, total, isUnread }: Bar, widthMs: number): string {
  if (isUnread) return texts.runs.unread;
  const told = statuses.flatMap((status) => (counts[status] ? [`${counts[status]} ${texts.status[status]}`] : []));
  return `${formatClock(from)} – ${formatClock(from + widthMs)}: ${total === 0 ? "0" : told.join(", ")}`;
}

function buildBars(items: readonly Execution[], rangeMs: number | undefined, hasMore: boolean) {
  const times = items.map(({ started_at }) => Date.parse(started_at));
  const end = Date.now();
  const oldest = times.reduce((least, time) => Math.min(least, time), end);
  const begin = rangeMs === undefined ? oldest : end - rangeMs;
  const widthMs = Math.max(1000, Math.ceil((end - begin) / bars));
  const all: Bar[] = Array.from({ length: bars }, (_, index) => ({
    from: end - (bars - index) * widthMs,
    isUnread: hasMore && end - (bars - index - 1) * widthMs <= oldest,
    counts: {},
    total: 0,
  }));
  for (const [index, { status }] of items.entries()) {
    const place = Math.max(0, bars - 1 - Math.floor((end - (times[index] as number)) / widthMs));
    const bar = all[place] as Bar;
    bar.counts[status] = (bar.counts[status] ?? 0) + 1;
    bar.total++;
  }
  const tallest = all.reduce((most, { total }) => Math.max(most, total), 1);
  return { all, tallest, widthMs };
}
