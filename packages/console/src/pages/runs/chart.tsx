import type { Execution } from "@nova/client";
import { type JSX, useMemo } from "react";
import { type Bar, Chart } from "../../parts/chart.tsx";
import { getStatusTone, statuses } from "../../parts/status.tsx";
import { formatClock, formatMoment } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";

const barCount = 60;

interface RunChartProps {
  /** Newest first. */
  items: readonly Execution[];
  rangeMs: number | undefined;
  /** Whether older runs exist that are not loaded. */
  hasMore: boolean;
}

/** Number of started runs over time, stacked by status. */
export function RunChart({ items, rangeMs, hasMore }: RunChartProps): JSX.Element {
  const { bars, top, fromMs, toMs } = useMemo(() => buildBars(items, rangeMs, hasMore), [items, rangeMs, hasMore]);
  const series = statuses.map((status) => {
    const count = items.filter((item) => item.status === status).length;
    return {
      name: texts.status[status],
      className: `tone-${getStatusTone(status)}`,
      total: count.toLocaleString("en"),
    };
  });
  return (
    <div className="runs-chart">
      <Chart
        label={texts.runs.chart(items.length)}
        series={series}
        bars={bars}
        top={top}
        heightPx={52}
        end={
          <span className="runs-chart-span">
            {formatMoment(fromMs)} – {formatMoment(toMs)}
          </span>
        }
      />
    </div>
  );
}

function buildBars(items: readonly Execution[], rangeMs: number | undefined, hasMore: boolean) {
  const times = items.map(({ started_at }) => Date.parse(started_at));
  const toMs = Date.now();
  const oldest = times.reduce((least, time) => Math.min(least, time), toMs);
  const widthMs = Math.max(1000, Math.ceil((rangeMs ?? toMs - oldest) / barCount));
  const fromMs = toMs - barCount * widthMs;
  const counts = Array.from({ length: barCount }, () => statuses.map(() => 0));
  for (const [index, { status }] of items.entries()) {
    const place = Math.max(0, barCount - 1 - Math.floor((toMs - (times[index] as number)) / widthMs));
    const values = counts[place] as number[];
    const series = statuses.indexOf(status);
    values[series] = (values[series] ?? 0) + 1;
  }
  const bars = counts.map((values, index): Bar => {
    const startMs = fromMs + index * widthMs;
    const isUnknown = hasMore && startMs + widthMs <= oldest;
    return { key: startMs, values, isUnknown, title: formatBarTitle(startMs, widthMs, values, isUnknown) };
  });
  const top = counts.reduce((most, values) => Math.max(most, sum(values)), 1);
  return { bars, top, fromMs, toMs };
}

function formatBarTitle(fromMs: number, widthMs: number, values: readonly number[], isUnknown: boolean): string {
  if (isUnknown) return texts.runs.unread;
  const counts = statuses.flatMap((status, index) =>
    values[index] ? [`${values[index]} ${texts.status[status]}`] : [],
  );
  return `${formatClock(fromMs)} – ${formatClock(fromMs + widthMs)}: ${sum(values) === 0 ? "0" : counts.join(", ")}`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
