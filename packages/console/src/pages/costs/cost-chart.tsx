import type { JSX } from "react";
import { Chart } from "../../parts/chart.tsx";
import { Table } from "../../parts/table.tsx";
import { texts } from "../../texts.ts";
import { type CostChartData, type CostDay, computeTicks, formatMeasure, type Measure, others } from "./cost-days.ts";
import "./costs-page.css";

const words = texts.costs;
const dayName = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", timeZone: "UTC" });

interface CostChartProps {
  chart: CostChartData;
  measure: Measure;
}

/** A stacked bar per day. A table shows the same figures for screen readers. */
export function CostChart({ chart, measure }: CostChartProps): JSX.Element {
  const { series, days, largest } = chart;
  const ticks = computeTicks(largest);
  const label = words.chart(words.measures[measure], days.length);
  const daysPerLabel = Math.max(1, Math.ceil(days.length / 8));
  const bars = days.map((day, index) => {
    const name = dayName.format(new Date(day.day));
    return {
      key: day.day,
      title: `${name}: ${formatValues(day, series, measure)}`,
      values: day.values,
      label: index % daysPerLabel === 0 ? name : undefined,
    };
  });
  return (
    <div className="cost-chart">
      <Chart
        label={label}
        series={series.map((name, index) => ({ name: getSeriesName(name), className: `series-${index + 1}` }))}
        bars={bars}
        top={ticks.at(-1) ?? 1}
        heightPx={168}
        ticks={ticks}
        formatTick={(value) => formatMeasure(value, measure)}
      />
      <details className="cost-table">
        <summary>{words.asTable}</summary>
        <Table
          label={label}
          items={days.filter(({ total }) => total > 0).toReversed()}
          keyOf={({ day }) => day}
          columns={[
            { label: words.day, show: ({ day }) => day, look: "fixed" },
            ...series.map((name, index) => ({
              label: getSeriesName(name),
              show: ({ values }: CostDay) => formatMeasure(values[index] ?? 0, measure),
              look: "number quiet",
            })),
            { label: words.together, show: ({ total }) => formatMeasure(total, measure), look: "number" },
          ]}
        />
      </details>
    </div>
  );
}

function formatValues({ values }: CostDay, series: readonly string[], measure: Measure): string {
  const parts = series.flatMap((name, index) =>
    values[index] ? [`${getSeriesName(name)} ${formatMeasure(values[index], measure)}`] : [],
  );
  return parts.length === 0 ? formatMeasure(0, measure) : parts.join(", ");
}

function getSeriesName(series: string): string {
  return series === others ? words.others : series;
}
