import { keepPreviousData } from "@tanstack/react-query";
import { useMemo } from "react";
import { useClientSlugs, useList, useWorkflowIds } from "../../api/queries.ts";
import { useAddress } from "../../parts/address.ts";
import { Chart } from "../../parts/chart.tsx";
import { Segments } from "../../parts/field.tsx";
import { FilterBar, toChoices } from "../../parts/filters.tsx";
import { Card, PageHead } from "../../parts/page.tsx";
import { Empty, QueryView } from "../../parts/states.tsx";
import { Table } from "../../parts/table.tsx";
import { texts } from "../../texts.ts";
import {
  buildCostChart,
  type CostChartData,
  type CostDay,
  type CostQuery,
  type CostSums,
  computeFirstDay,
  computeTicks,
  formatDollars,
  formatMeasure,
  formatTokens,
  type Measure,
  measures,
  others,
  sumCosts,
} from "./cost-days.ts";
import { ErrorTable, NodeTable, WorkflowTable } from "./figures.tsx";
import "./costs-page.css";

const words = texts.costs;
const names = ["workflow", "client", "range", "measure"] as const;
const ranges = { "7d": 7, "30d": 30, "90d": 90 } as const;
const usualRange = "30d";

/** Costs of models by day and workflow, with statistics of runs. */
export function CostsPage() {
  const [filters, change] = useAddress(names);
  const { workflow, client, range = usualRange } = filters;
  const days = ranges[range as keyof typeof ranges] ?? ranges[usualRange];
  const measure = measures.find((one) => one === filters.measure) ?? "cost";
  const from = computeFirstDay(days, Date.now());
  const filter = useMemo(
    () => ({ from, ...(workflow !== undefined && { workflow }), ...(client !== undefined && { client }) }),
    [from, workflow, client],
  );
  const workflows = useWorkflowIds();
  const clients = useClientSlugs();
  return (
    <>
      <PageHead title={words.title}>
        <span className="quiet">{words.subtitle(days)}</span>
      </PageHead>
      <FilterBar
        filters={filters}
        change={change}
        clears={["workflow", "client"]}
        choices={[
          ["range", texts.runs.filters.time, Object.entries(words.ranges), words.usualRange],
          ["workflow", texts.runs.filters.workflow, toChoices(workflows)],
          ["client", texts.runs.filters.client, toChoices(clients)],
        ]}
      />
      <div className="page-body">
        <Figures filter={filter} days={days} measure={measure} onMeasure={(to) => change({ measure: to })} />
      </div>
    </>
  );
}

interface FiguresProps {
  filter: CostQuery;
  days: number;
  measure: Measure;
  onMeasure(measure: Measure): void;
}

function Figures({ filter, days, measure, onMeasure }: FiguresProps) {
  const costs = useList(
    "/analytics/ai-cost",
    { query: filter },
    { placeholderData: keepPreviousData, staleTime: 30_000 },
  );
  const { data } = costs;
  const chart = useMemo(() => data && buildCostChart(data, measure, days, Date.now()), [data, measure, days]);
  return (
    <QueryView query={costs}>
      {(figures) => (
        <div className="page-column">
          <Sums sums={sumCosts(figures)} />
          <Card
            title={words.byDay}
            end={
              <Segments
                label={words.measure}
                choices={measures.map((one) => [one, words.measures[one]] as const)}
                value={measure}
                onChange={onMeasure}
              />
            }
          >
            {chart && chart.largest > 0 ? (
              <div className="card-body">
                <CostChart chart={chart} measure={measure} />
              </div>
            ) : (
              <Empty icon="coins" title={words.empty[measure]} hint={words.emptyHint} />
            )}
          </Card>
          <WorkflowTable filter={filter} />
          <NodeTable filter={filter} />
          <ErrorTable filter={filter} />
        </div>
      )}
    </QueryView>
  );
}

function Sums({ sums }: { sums: CostSums }) {
  const { costUsd, savedUsd, tokensInput, tokensCached, tokensOutput, cacheHits } = sums;
  const tiles = [
    [words.sums.cost, formatDollars(costUsd), words.sums.costHint],
    [words.sums.saved, formatDollars(savedUsd), words.sums.savedHint(cacheHits)],
    [words.sums.input, formatTokens(tokensInput), words.sums.inputHint(formatTokens(tokensCached))],
    [words.sums.output, formatTokens(tokensOutput), words.sums.outputHint],
  ] as const;
  return (
    <dl className="sums">
      {tiles.map(([label, value, hint]) => (
        <div key={label} className="card sum">
          <dt>{label}</dt>
          <dd>
            <b>{value}</b>
            <span className="quiet">{hint}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

const dayName = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", timeZone: "UTC" });

interface CostChartProps {
  chart: CostChartData;
  measure: Measure;
}

/** A stacked bar per day. A table shows the same figures for screen readers. */
function CostChart({ chart, measure }: CostChartProps) {
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
