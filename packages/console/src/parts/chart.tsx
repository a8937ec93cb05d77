import type { JSX, ReactNode } from "react";

export interface Series {
  name: string;
  /** CSS class that sets `--tone`. */
  className: string;
  /** The total of the series, which the legend shows after its name. */
  total?: string;
}

export interface Bar {
  key: string | number;
  title: string;
  /** One value per series, stacked from the bottom. */
  values: readonly number[];
  /** A label that is shown below the bar. */
  label?: string | undefined;
  /** Whether the data of this bar is not loaded. */
  isUnknown?: boolean;
}

interface ChartProps {
  label: string;
  series: readonly Series[];
  bars: readonly Bar[];
  /** The value at the top of the chart. */
  top: number;
  heightPx: number;
  /** Values of horizontal lines. */
  ticks?: readonly number[];
  formatTick?(value: number): string;
  /** Content at the end of the legend. */
  end?: ReactNode;
}

/** Stacked bars with a legend. Series without a value are not in the legend. */
export function Chart(props: ChartProps): JSX.Element {
  const { label, series, bars, top, heightPx, ticks = [], formatTick = String, end } = props;
  const used = series.filter((_, index) => bars.some((bar) => bar.values[index]));
  return (
    <figure className="chart" aria-label={label}>
      <div className={ticks.length > 0 ? "chart-ruled" : undefined} aria-hidden="true">
        <div className="chart-bars" style={{ height: heightPx }}>
          {ticks.map((tick) => (
            <span key={tick} className="chart-tick" style={{ bottom: toPercent(tick / top) }}>
              {formatTick(tick)}
            </span>
          ))}
          {bars.map((bar) => (
            <div key={bar.key} className={bar.isUnknown ? "chart-bar hatched" : "chart-bar"} title={bar.title}>
              {series.map(({ name, className }, index) => {
                const value = bar.values[index] ?? 0;
                return value > 0 && <i key={name} className={className} style={{ height: toPercent(value / top) }} />;
              })}
              {bar.label !== undefined && <span className="chart-label">{bar.label}</span>}
            </div>
          ))}
        </div>
      </div>
      <figcaption className="line small quiet">
        {used.map(({ name, className, total }) => (
          <span key={name} className={`legend-key ${className}`}>
            {name} {total !== undefined && <b>{total}</b>}
          </span>
        ))}
        {end}
      </figcaption>
    </figure>
  );
}

function toPercent(share: number): string {
  return `${share * 100}%`;
}
