import { useQuery } from "@tanstack/react-query";
import { type JSX, useMemo } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useAddress } from "../../parts/address.ts";
import { ShareBar } from "../../parts/chart.tsx";
import { FilterBar, FilterSelect } from "../../parts/filters.tsx";
import { Empty, QueryView } from "../../parts/states.tsx";
import { getStatusTone, type RunStatus } from "../../parts/status.tsx";
import { formatDuration } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";
import { computeFirstDay, formatDollars } from "../costs/cost-days.ts";
import { ErrorTable, NodeTable } from "../costs/figures.tsx";
import type { WholeWorkflow } from "./use-workflow.tsx";
import "./tabs.css";

const words = texts.workflows.analytics;
const ranges = { "1d": 1, "7d": 7, "90d": 90 } as const;
const usualDays = 30;
const finalStatuses = ["completed", "failed", "cancelled", "interrupted"] as const satisfies readonly RunStatus[];

/** Statistics of runs by node. */
export function AnalyticsTab({ workflow: { id } }: { workflow: WholeWorkflow }): JSX.Element {
  const nova = useNova();
  const [{ range }, change] = useAddress(["range"]);
  const days = ranges[range as keyof typeof ranges] ?? usualDays;
  const from = computeFirstDay(days, Date.now());
  const filter = useMemo(() => ({ workflow: id, from }), [id, from]);
  const query = useQuery({
    queryKey: ["/analytics/workflows", filter],
    staleTime: 30_000,
    queryFn: () => Array.fromAsync(nova.list("/analytics/workflows", { query: filter })),
  });
  return (
    <>
      <FilterBar>
        <FilterSelect
          label={words.range}
          value={range}
          values={Object.entries(words.ranges)}
          none={words.usual}
          onChange={(to) => change({ range: to })}
        />
        <Link href={`/costs?workflow=${id}`} className="button analytics-costs">
          {words.costs}
        </Link>
      </FilterBar>
      <QueryView query={query}>
        {([figures]) =>
          figures === undefined ? (
            <Empty icon="clock" title={words.empty} hint={words.emptyHint} />
          ) : (
            <div className="page-body">
              <div className="page-column">
                <dl className="tiles">
                  <Tile label={words.runs} value={figures.runs.toLocaleString("en")} />
                  <Tile label={words.success} value={`${Math.floor(figures.success_rate * 1000) / 10}%`} />
                  <Tile label={words.mean} value={formatDuration(figures.mean_ms)} />
                  <Tile label={words.p95} value={figures.p95_ms === null ? "–" : formatDuration(figures.p95_ms)} />
                  <Tile label={words.cost} value={formatDollars(figures.cost_usd)} />
                </dl>
                <Outcomes figures={figures} />
                <NodeTable filter={filter} />
                <ErrorTable filter={filter} />
              </div>
            </div>
          )
        }
      </QueryView>
    </>
  );
}

function Tile({ label, value }: { label: string; value: string }): JSX.Element {
  return (
    <div className="tile card">
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Outcomes({ figures }: { figures: Record<(typeof finalStatuses)[number] | "runs", number> }): JSX.Element {
  const parts = finalStatuses
    .filter((status) => figures[status] > 0)
    .map((status) => ({
      key: status,
      className: `tone-${getStatusTone(status)}`,
      share: figures[status] / figures.runs,
    }));
  return (
    <figure className="chart" aria-label={words.ended}>
      <ShareBar parts={parts} />
      <figcaption className="legend">
        {parts.map(({ key, className }) => (
          <span key={key} className={`legend-key ${className}`}>
            {texts.status[key]} <b>{figures[key].toLocaleString("en")}</b>
          </span>
        ))}
      </figcaption>
    </figure>
  );
}
