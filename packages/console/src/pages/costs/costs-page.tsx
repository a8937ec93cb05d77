import { formatDuration, formatPercentile, formatRate, formatUsd, type ItemOf, type ListPath } from "@nova/client";
import { keepPreviousData } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Link } from "wouter";
import { useClientSlugs, useList, useWorkflowChoices } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { Chart } from "../../parts/chart.tsx";
import { Segments } from "../../parts/field.tsx";
import { FilterBar, toChoices, useAddress } from "../../parts/filters.tsx";
import { Card, type Fact, Facts, PageColumn, PageHead } from "../../parts/page.tsx";
import { Empty, QueryView } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";

import { WorkflowName } from "../../parts/workflow-name.tsx";
import { texts } from "../../texts.ts";
import {
  buildCostChart,
  type CostChartData,
  type CostDay,
  type CostQuery,
  type CostSums,
  computeFirstDay,
  computeTicks,
  formatMeasure,
  formatTokens,
  type Measure,
  measures,
  others,
  sumCosts,
} from "./cost-days.ts";

const words = texts.costs;
const names = ["workflow", "client", "range", "measure"] as const;
const ranges = { "7d": 7, "30d": 30, "90d": 90 } as const;
const usualRange = "30d";

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
  const workflows = useWorkflowChoices();
  const clients = useClientSlugs();
  return (
    <>
      <PageHead title={texts.nav.costs} note={words.subtitle(days)} />
      <FilterBar
        filters={filters}
        change={change}
        clears={["workflow", "client"]}
        choices={[
          ["range", texts.runs.filters.time, Object.entries(words.ranges), words.usualRange],
          ["workflow", texts.runs.columns.workflow, workflows],
          ["client", texts.runs.columns.client, toChoices(clients)],
        ]}
      />
      <Report filter={filter} days={days} measure={measure} onMeasure={(to) => change({ measure: to })} />
    </>
  );
}

interface ReportProps {
  filter: CostQuery;
  days: number;
  measure: Measure;
  onMeasure(measure: Measure): void;
}

function Report({ filter, days, measure, onMeasure }: ReportProps) {
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
        <PageColumn>
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
        </PageColumn>
      )}
    </QueryView>
  );
}

function Sums({ sums }: { sums: CostSums }) {
  const tiles = [
    [words.columns.cost, formatUsd(sums.cost_usd), words.sums.costHint],
    [words.measures.saved, formatUsd(sums.saved_usd), words.sums.savedHint(sums.cache_hits)],
    [words.sums.input, formatTokens(sums.tokens_input), words.sums.inputHint(formatTokens(sums.tokens_cached))],
    [words.sums.output, formatTokens(sums.tokens_output), words.sums.outputHint],
  ] as const;
  const facts = tiles.map(([label, value, hint]): Fact => {
    const content = (
      <>
        <b className="huge">{value}</b>
        <span className="quiet small">{hint}</span>
      </>
    );
    return [label, content];
  });
  return <Facts className="tiles" facts={facts} factLook="card tile" />;
}

const dayName = new Intl.DateTimeFormat("en", { month: "short", day: "numeric", timeZone: "UTC" });

/** Shows one stacked bar per day. For screen readers, a table contains the same figures. */
function CostChart({ chart, measure }: { chart: CostChartData; measure: Measure }) {
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
    <div>
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
            [words.day, ({ day }) => day, "fixed"],
            ...series.map(
              (name, index): Column<CostDay> => [
                getSeriesName(name),
                ({ values }: CostDay) => formatMeasure(values[index] ?? 0, measure),
                "number quiet",
              ],
            ),
            [words.together, ({ total }) => formatMeasure(total, measure), "number"],
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

const initialCount = 10;

type FigurePath = Extract<ListPath, `/analytics/${string}`>;

interface FigureTableProps<Path extends FigurePath> {
  path: Path;
  title: string;
  filter: CostQuery;
  columns: readonly Column<ItemOf<Path>>[];
  keyOf(item: ItemOf<Path>): string;
  /** Compares two rows, so that a sort puts the most important row first. */
  compare(a: ItemOf<Path>, b: ItemOf<Path>): number;
}

function FigureTable<Path extends FigurePath>(props: FigureTableProps<Path>) {
  const { path, title, filter, columns, keyOf, compare } = props;
  const [isComplete, setComplete] = useState(false);
  // All these routes accept the same query, but TypeScript cannot derive that from their types.
  const request = { query: filter } as object;
  const figures = useList(path, request, { placeholderData: keepPreviousData, staleTime: 30_000 });
  const all = figures.data?.toSorted(compare) ?? [];
  if (figures.data && all.length === 0) return null;
  const visible = isComplete ? all : all.slice(0, initialCount);
  return (
    <Card title={title} hint={all.length > 0 && all.length.toLocaleString("en")}>
      <QueryView query={figures} lines={4}>
        {() => <Table items={visible} columns={columns} keyOf={keyOf} />}
      </QueryView>
      {all.length > initialCount && !isComplete && (
        <div className="card-body">
          <Button tone="ghost" onClick={() => setComplete(true)}>
            {texts.common.more(all.length - initialCount)}
          </Button>
        </div>
      )}
    </Card>
  );
}

function RunsLink({ workflow, error }: { workflow: string; error?: string }) {
  const query = new URLSearchParams({ workflow, ...(error !== undefined && { error }) });
  return <Link href={`/?${query}`}>{error ?? <WorkflowName id={workflow} />}</Link>;
}

const percentile = (ms: number | null) => (ms === null ? "–" : formatPercentile(ms));
const number = "number";
const wideNumber = "number wide";

function WorkflowTable({ filter }: { filter: CostQuery }) {
  return (
    <FigureTable
      path="/analytics/workflows"
      title={texts.nav.workflows}
      filter={filter}
      keyOf={({ workflow }) => workflow}
      compare={(a, b) => b.cost_usd - a.cost_usd || b.runs - a.runs}
      columns={[
        [words.columns.workflow, ({ workflow }) => <RunsLink workflow={workflow} />],
        [words.columns.runs, ({ runs }) => runs.toLocaleString("en"), number],
        [words.columns.success, ({ success_rate }) => formatRate(success_rate), number],
        [words.columns.mean, ({ mean_ms }) => formatDuration(mean_ms), wideNumber],
        [words.columns.p95, ({ p95_ms }) => percentile(p95_ms), wideNumber],
        [words.columns.cost, ({ cost_usd }) => formatUsd(cost_usd), number],
      ]}
    />
  );
}

/** Returns the column with the workflow. Returns no column if all rows are of one workflow. */
function workflowColumns({ workflow: only }: CostQuery): Column<{ workflow: string }>[] {
  const show = ({ workflow }: { workflow: string }) => (
    <span className="quiet">
      <WorkflowName id={workflow} />
    </span>
  );
  return only === undefined ? [[words.columns.workflow, show]] : [];
}

export function NodeTable({ filter }: { filter: CostQuery }) {
  return (
    <FigureTable
      path="/analytics/nodes"
      title={words.nodes}
      filter={filter}
      keyOf={({ workflow, node }) => `${workflow} ${node}`}
      compare={(a, b) => b.cost_usd - a.cost_usd || (b.p95_ms ?? 0) - (a.p95_ms ?? 0)}
      columns={[
        [words.columns.node, ({ node }) => node],
        ...workflowColumns(filter),
        [words.columns.runs, ({ runs }) => runs.toLocaleString("en"), wideNumber],
        [words.columns.success, ({ success_rate }) => formatRate(success_rate), wideNumber],
        [words.columns.p95, ({ p95_ms }) => percentile(p95_ms), number],
        [words.columns.hits, ({ cache_hits }) => cache_hits.toLocaleString("en"), wideNumber],
        [words.columns.cost, ({ cost_usd }) => formatUsd(cost_usd), number],
      ]}
    />
  );
}

export function ErrorTable({ filter }: { filter: CostQuery }) {
  return (
    <FigureTable
      path="/analytics/errors"
      title={texts.nav.failures}
      filter={filter}
      keyOf={({ workflow, node, class: name }) => `${workflow} ${node} ${name}`}
      compare={(a, b) => b.count - a.count}
      columns={[
        [texts.runs.filters.error, ({ workflow, class: name }) => <RunsLink workflow={workflow} error={name} />],
        [words.columns.node, ({ node }) => node],
        ...workflowColumns(filter),
        [words.columns.count, ({ count }) => count.toLocaleString("en"), number],
      ]}
    />
  );
}
