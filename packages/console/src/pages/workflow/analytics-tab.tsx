import { formatDuration, formatPercentile, formatRate, formatUsd, type Schemas } from "@nova/client";
import { useMemo } from "react";
import { Link } from "wouter";
import { useList } from "../../api/queries.ts";
import { FilterBar, useAddress } from "../../parts/filters.tsx";
import { Facts, PageColumn } from "../../parts/page.tsx";
import { ListView } from "../../parts/states.tsx";

import { texts } from "../../texts.ts";
import { type CostQuery, computeFirstDay } from "../costs/cost-days.ts";
import { ErrorTable, NodeTable } from "../costs/costs-page.tsx";
import type { WholeWorkflow } from "./use-workflow.tsx";

const words = texts.workflows.analytics;
const { columns } = texts.costs;
const ranges = { "1d": 1, "7d": 7, "90d": 90 } as const;
const usualDays = 30;

export function AnalyticsTab({ workflow: { id } }: { workflow: WholeWorkflow }) {
  const [filters, change] = useAddress(["range"]);
  const days = ranges[filters.range as keyof typeof ranges] ?? usualDays;
  const from = computeFirstDay(days, Date.now());
  const filter = useMemo(() => ({ workflow: id, from }), [id, from]);
  const query = useList("/analytics/workflows", { query: filter }, { staleTime: 30_000 });
  return (
    <>
      <FilterBar
        filters={filters}
        change={change}
        choices={[["range", texts.runs.filters.time, Object.entries(words.ranges), texts.costs.usualRange]]}
      >
        <Link href={`/costs?workflow=${id}`} className="button end">
          {words.costs}
        </Link>
      </FilterBar>
      <ListView query={query} icon="clock" words={words}>
        {([figures]) => figures && <Report figures={figures} filter={filter} />}
      </ListView>
    </>
  );
}

function Report({ figures, filter }: { figures: Schemas["WorkflowFigures"]; filter: CostQuery }) {
  const tiles = [
    [columns.runs, figures.runs.toLocaleString("en")],
    [columns.success, formatRate(figures.success_rate)],
    [columns.mean, formatDuration(figures.mean_ms)],
    [columns.p95, figures.p95_ms === null ? "–" : formatPercentile(figures.p95_ms)],
    [words.cost, formatUsd(figures.cost_usd)],
  ] as const;
  return (
    <PageColumn>
      <Facts className="tiles" facts={tiles.map((tile) => [...tile, "huge"])} factLook="tile card" />
      <NodeTable filter={filter} />
      <ErrorTable filter={filter} />
    </PageColumn>
  );
}
