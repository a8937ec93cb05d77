import { useQuery } from "@tanstack/react-query";
import { type JSX, useMemo } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useAddress } from "../../parts/address.ts";
import { FilterSelect } from "../../parts/filters.tsx";
import { Empty, Loading, PageFailure } from "../../parts/states.tsx";
import { getStatusTone, type RunStatus } from "../../parts/status.tsx";
import { formatDuration } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";
import { computeFirstDay, formatDollars } from "../costs/cost-days.ts";
import { ErrorTable, NodeTable } from "../costs/figures.tsx";
import type { WholeWorkflow } from "./use-workflow.tsx";
import "../../parts/filters.css";
import "../../parts/sheet.css";
import "./tabs.css";

const words = texts.workflows.analytics;
const ranges = { "1d": 1, "7d": 7, "90d": 90 } as const;
const usualDays = 30;
const ends = ["completed", "failed", "cancelled", "interrupted"] as const satisfies readonly RunStatus[];

/** Statistics of runs by node. */
export function AnalyticsTab({ workflow: { id } }: { workflow: WholeWorkflow }): JSX.Element {
  const nova = useNova();
  const [{ range }, change] = useAddress(["range"]);
  const days = ranges[range as keyof typeof ranges] ?? usualDays;
  const from = computeFirstDay(days, Date.now());
  const asked = useMemo(() => ({ workflow: id, from }), [id, from]);
  const figures = useQuery({
    queryKey: ["/analytics/workflows", asked],
    staleTime: 30_000,
    queryFn: () => Array.fromAsync(nova.list("/analytics/workflows", { query: asked })),
  });
  const [sum] = figures.data ?? [];
  return (
    <>
      <div className="filter-bar" role="search">
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
      </div>
      {figures.isPending ? (
        <Loading />
      ) : figures.error ? (
        <PageFailure error={figures.error} onRetry={() => void figures.refetch()} />
      ) : sum === undefined ? (
        <Empty icon="clock" title={words.empty} hint={words.emptyHint} />
      ) : (
        <div className="page-body">
          <div className="page-column">
            <dl className="tiles">
              <Tile label={words.runs} value={sum.runs.toLocaleString("en")} />
              <Tile label={words.success} value={`${Math.floor(sum.success_rate * 1000) / 10}%`} />
              <Tile label={words.mean} value={formatDuration(sum.mean_ms)} />
              <Tile label={words.p95} value={sum.p95_ms === null ? "–" : formatDuration(sum.p95_ms)} />
              <Tile label={words.cost} value={formatDollars(sum.cost_usd)} />
            </dl>
            <Ends sum={sum} />
            <NodeTable asked={asked} />
            <ErrorTable asked={asked} />
          </div>
        </div>
      )}
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

function Ends({ sum }: { sum: Record<(typeof ends)[number] | "runs", number> }): JSX.Element {
  const shown = ends.filter((status) => sum[status] > 0);
  return (
    <figure className="ends" aria-label={words.ended}>
      <div className="ends-bar" aria-hidden="true">
        {shown.map((status) => (
          <span
            key={status}
            className={`tone-${getStatusTone(status)}`}
            style={{ width: `${(sum[status] / sum.runs) * 100}%` }}
          />
        ))}
      </div>
      <figcaption className="ends-legend">
        {shown.map((status) => (
          <span key={status} className={`ends-key tone-${getStatusTone(status)}`}>
            {texts.status[status]} <b>{sum[status].toLocaleString("en")}</b>
          </span>
        ))}
      </figcaption>
    </figure>
  );
}
