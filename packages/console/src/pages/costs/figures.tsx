import type { ItemOf, ListPath } from "@nova/client";
import { keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { useList } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { Card } from "../../parts/page.tsx";
import { QueryView } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { formatDuration } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";
import { type CostQuery, formatDollars } from "./cost-days.ts";

const words = texts.costs;
const initialCount = 10;

type Figures = Extract<ListPath, `/analytics/${string}`>;

interface FigureTableProps<Path extends Figures> {
  path: Path;
  title: string;
  filter: CostQuery;
  columns: readonly Column<ItemOf<Path>>[];
  keyOf(item: ItemOf<Path>): string;
  /** Sorts the most important rows first. */
  compare(a: ItemOf<Path>, b: ItemOf<Path>): number;
}

function FigureTable<Path extends Figures>(props: FigureTableProps<Path>) {
  const { path, title, filter, columns, keyOf, compare } = props;
  const [isComplete, setComplete] = useState(false);
  // These routes have the same query, which their types cannot express together.
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
  return <Link href={`/?${query}`}>{error ?? workflow}</Link>;
}

const percent = (rate: number) => `${(rate * 100).toFixed(rate === 1 || rate === 0 ? 0 : 1)}%`;
const time = (ms: number | null) => (ms === null ? "–" : formatDuration(ms));
const number = { look: "number" } as const;
const wideNumber = { look: "number wide" } as const;

export function WorkflowTable({ filter }: { filter: CostQuery }) {
  return (
    <FigureTable
      path="/analytics/workflows"
      title={words.workflows}
      filter={filter}
      keyOf={({ workflow }) => workflow}
      compare={(a, b) => b.cost_usd - a.cost_usd || b.runs - a.runs}
      columns={[
        { label: words.columns.workflow, show: ({ workflow }) => <RunsLink workflow={workflow} /> },
        { label: words.columns.runs, show: ({ runs }) => runs.toLocaleString("en"), ...number },
        { label: words.columns.success, show: ({ success_rate }) => percent(success_rate), ...number },
        { label: words.columns.mean, show: ({ mean_ms }) => time(mean_ms), ...wideNumber },
        { label: words.columns.p95, show: ({ p95_ms }) => time(p95_ms), ...wideNumber },
        { label: words.columns.cost, show: ({ cost_usd }) => formatDollars(cost_usd), ...number },
      ]}
    />
  );
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
        { label: words.columns.node, show: ({ node }) => node },
        { label: words.columns.workflow, show: ({ workflow }) => <span className="quiet">{workflow}</span> },
        { label: words.columns.runs, show: ({ runs }) => runs.toLocaleString("en"), ...wideNumber },
        { label: words.columns.success, show: ({ success_rate }) => percent(success_rate), ...wideNumber },
        { label: words.columns.p95, show: ({ p95_ms }) => time(p95_ms), ...number },
        { label: words.columns.hits, show: ({ cache_hits }) => cache_hits.toLocaleString("en"), ...wideNumber },
        { label: words.columns.cost, show: ({ cost_usd }) => formatDollars(cost_usd), ...number },
      ]}
    />
  );
}

export function ErrorTable({ filter }: { filter: CostQuery }) {
  return (
    <FigureTable
      path="/analytics/errors"
      title={words.errors}
      filter={filter}
      keyOf={({ workflow, node, class: name }) => `${workflow} ${node} ${name}`}
      compare={(a, b) => b.count - a.count}
      columns={[
        {
          label: words.columns.error,
          show: ({ workflow, class: name }) => <RunsLink workflow={workflow} error={name} />,
        },
        { label: words.columns.node, show: ({ node }) => node },
        { label: words.columns.workflow, show: ({ workflow }) => <span className="quiet">{workflow}</span> },
        { label: words.columns.count, show: ({ count }) => count.toLocaleString("en"), ...number },
      ]}
    />
  );
}
