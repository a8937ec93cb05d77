import type { JSX } from "react";
import { Table } from "../../parts/table.tsx";
import { texts } from "../../texts.ts";
import {
  type CostChartData as Chart,
  type CostDay,
  computeTicks,
  formatMeasure,
  type Measure,
  others,
} from "./cost-days.ts";
import "./costs-page.css";

const words = texts.costs;
const height = 200;
const below = 22;
const above = 10;
/** Number of days between two labels. On a narrow screen, every second label is hidden. */
const namedEach = (days: number) => Math.max(1, Math.ceil(days / 8));
const dayName = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", timeZone: "UTC" });

/** A stacked bar per day. A table shows the same figures for screen readers. */
export function CostChart({ chart, measure }: { chart: Chart; measure: Measure }): JSX.Element {
  const { series, days, largest } = chart;
  const ticks = computeTicks(largest);
  const top = ticks.at(-1) ?? 1;
  const y = (value: number) => height - below - (value / top) * (height - below - above);
  const width = 100 / days.length;
  return (
    <figure className="cost-chart">
      <div className="cost-plot">
        <svg width="100%" height={height} role="img" aria-label={words.chart(words.measures[measure], days.length)}>
          {[0, ...ticks].map((tick) => (
            <line key={tick} className="cost-line" x1="0" x2="100%" y1={y(tick)} y2={y(tick)} />
          ))}
          {days.map((day, index) => (
            <Bar key={day.day} day={day} series={series} measure={measure} y={y} x={index * width} width={width} />
          ))}
          {days.map(({ day }, index) =>
            index % namedEach(days.length) === 0 ? (
              <text
                key={day}
                className={(index / namedEach(days.length)) % 2 === 0 ? "cost-day" : "cost-day wide"}
                x={`${index * width}%`}
                y={height - 5}
              >
                {dayName.format(new Date(day))}
              </text>
            ) : null,
          )}
        </svg>
        <div className="cost-ticks" aria-hidden="true">
          {ticks.map((tick) => (
            <span key={tick} style={{ top: y(tick) }}>
              {formatMeasure(tick, measure)}
            </span>
          ))}
        </div>
      </div>
      <figcaption className="cost-legend">
        {series.map((name, index) => (
          <span key={name} className={`cost-key series-${index + 1}`}>
            {getSeriesName(name)}
          </span>
        ))}
      </figcaption>
      <DayTable chart={chart} measure={measure} />
    </figure>
  );
}

interface BarProps {
  day: CostDay;
  series: readonly string[];
  measure: Measure;
  y(value: number): number;
  /** Percent of the width. */
  x: number;
  width: number;
}

function Bar({ day, series, measure, y, x, width }: BarProps): JSX.Element {
  const told = series.flatMap((name, index) =>
    day.values[index] ? [`${getSeriesName(name)} ${formatMeasure(day.values[index], measure)}`] : [],
  );
  let base = 0;
  return (
    <g className="cost-bar">
      <title>{`${dayName.format(new Date(day.day))}: ${told.length === 0 ? formatMeasure(0, measure) : told.join(", ")}`}</title>
      <rect className="cost-hover" x={`${x}%`} width={`${width}%`} y="0" height={height - below} />
      {day.values.map((value, index) => {
        const from = base;
        base += value;
        if (value === 0) return null;
        return (
          <rect
            key={series[index]}
            className={`series-${index + 1}`}
            x={`${x + width * 0.14}%`}
            width={`${width * 0.72}%`}
            y={y(base)}
            height={Math.max(1, y(from) - y(base))}
          />
        );
      })}
    </g>
  );
}

function getSeriesName(series: string): string {
  return series === others ? words.others : series;
}

function DayTable({ chart: { series, days }, measure }: { chart: Chart; measure: Measure }): JSX.Element {
  const spent = days.filter(({ total }) => total > 0).toReversed();
  return (
    <details className="cost-table">
      <summary>{words.asTable}</summary>
      <Table
        label={words.chart(words.measures[measure], days.length)}
        items={spent}
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
  );
}
