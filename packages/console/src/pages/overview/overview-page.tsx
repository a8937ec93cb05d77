import { formatDuration, formatPercentile, formatRate, formatUsd, type Schemas } from "@nova/client";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { useList, usePages } from "../../api/queries.ts";
import { Card, type Fact, Facts, LiveMark, PageColumn, PageHead } from "../../parts/page.tsx";
import { QueryView } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time, useNow } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { WorkflowName } from "../../parts/workflow-name.tsx";
import { texts } from "../../texts.ts";
import { useRunCount } from "../runs/use-runs.ts";

const words = texts.overview;
const pauseMs = 10_000;
const dayMs = 86_400_000;
const hoursPerDay = 24;
const maxListed = 5;

/** Shows the state of all workflows: the figures of the last 24 hours, and the runs and tasks that wait now. */
export function OverviewPage() {
  const from = new Date(Math.floor(Date.now() / pauseMs) * pauseMs - dayMs).toISOString();
  const figures = useList("/analytics/workflows", { query: { from } }, { refetchInterval: pauseMs });
  return (
    <>
      <PageHead title={texts.nav.overview} note={words.period} end={<LiveMark />} />
      <PageColumn>
        <QueryView query={figures} lines={3}>
          {(workflows) => (
            <>
              <Tiles workflows={workflows} />
              <Card title={texts.nav.workflows}>
                {workflows.length === 0 ? (
                  <p className="card-body quiet">{words.noRuns}</p>
                ) : (
                  <Table items={workflows} keyOf={({ workflow }) => workflow} columns={columns} />
                )}
              </Card>
            </>
          )}
        </QueryView>
        <Schedules />
        <Rejected />
      </PageColumn>
    </>
  );
}

type Figures = Schemas["WorkflowFigures"];

function Tiles({ workflows }: { workflows: readonly Figures[] }) {
  const queue = useRunCount({ status: "queued" }, pauseMs);
  const cost = useCostToday();
  const sum = (countOf: (one: Figures) => number) => workflows.reduce((total, one) => total + countOf(one), 0);
  const [runs, failed, completed] = [sum((one) => one.runs), sum((one) => one.failed), sum((one) => one.completed)];
  const link = (href: string, count: string) => <Link href={href}>{count}</Link>;
  const tiles: Fact[] = [
    [words.runs, link("/?range=24h", runs.toLocaleString("en"))],
    [words.throughput, words.perHour(runs / hoursPerDay)],
    [words.failed, link("/failures?range=24h", failed.toLocaleString("en"))],
    [words.success, runs === 0 ? "–" : formatRate(completed / runs)],
    [texts.status.queued, queue && link("/?status=queued", queue)],
    [words.cost, cost === undefined ? "–" : formatUsd(cost)],
    [words.oldestTask, <OldestTask key="task" />],
  ];
  return <Facts className="tiles" facts={tiles.map(([label, value]) => [label, value, "huge"])} factLook="tile card" />;
}

/** Returns the cost of today's model calls in dollars. The day is a day in UTC, as on the page of costs. */
function useCostToday(): number | undefined {
  const today = new Date().toISOString().slice(0, 10);
  const { data } = useList("/analytics/ai-cost", { query: { from: today } }, { refetchInterval: pauseMs });
  return data?.filter(({ day }) => day === today).reduce((total, { cost_usd }) => total + cost_usd, 0);
}

/** Shows the oldest open task, which is the first task that the API lists. */
function OldestTask() {
  const now = useNow();
  const { data } = usePages("/tasks", { query: { limit: 1 } }, { refetchInterval: pauseMs });
  const [task] = data ?? [];
  if (!task) return <>–</>;
  const ageMs = Math.max(0, now - Date.parse(task.created_at));
  return <Link href={`/tasks/${task.task_id}`}>{formatDuration(ageMs)}</Link>;
}

const time = (ms: number | null) => (ms === null ? "–" : formatPercentile(ms));
const { columns: labels } = texts.costs;

const columns: readonly Column<Figures>[] = [
  [
    labels.workflow,
    ({ workflow }) => (
      <Link href={`/workflows/${workflow}`}>
        <WorkflowName id={workflow} />
      </Link>
    ),
  ],
  [labels.runs, ({ runs }) => runs.toLocaleString("en"), "number"],
  [
    words.failed,
    ({ workflow, failed }) =>
      failed > 0 && <Link href={`/failures?workflow=${workflow}&range=24h`}>{failed.toLocaleString("en")}</Link>,
    "number",
  ],
  [words.success, ({ success_rate }) => formatRate(success_rate), "number wide"],
  [words.p50, ({ p50_ms }) => time(p50_ms), "number wide"],
  [labels.p95, ({ p95_ms }) => time(p95_ms), "number"],
  [labels.cost, ({ cost_usd }) => formatUsd(cost_usd), "number wide"],
];

function Listed({ title, empty, items }: { title: string; empty: string; items: readonly ReactNode[] | undefined }) {
  return (
    <Card title={title}>
      {items?.length === 0 && <p className="card-body quiet">{empty}</p>}
      {items && items.length > 0 && <ul className="card-body stack">{items}</ul>}
    </Card>
  );
}

function Schedules() {
  const { data } = useList("/schedules", {}, { refetchInterval: pauseMs });
  const next = data
    ?.flatMap((schedule) => (schedule.next_at === null ? [] : { ...schedule, next_at: schedule.next_at }))
    .sort((a, b) => a.next_at.localeCompare(b.next_at))
    .slice(0, maxListed);
  const items = next?.map(({ workflow, trigger, next_at }) => (
    <li key={`${workflow} ${trigger}`} className="row">
      <Time at={next_at} />
      <Link href={`/workflows/${workflow}/triggers`} className="fill">
        <WorkflowName id={workflow} />
      </Link>
      <UntrustedText as="span" className="quiet" text={trigger} />
    </li>
  ));
  return <Listed title={words.schedules} empty={words.noSchedules} items={items} />;
}

function Rejected() {
  const query = { status: "refused", limit: maxListed } as const;
  const { data } = usePages("/deliveries", { query }, { refetchInterval: pauseMs });
  const items = data?.map(({ id, at, type, workflow, reason }) => (
    <li key={id} className="row">
      <Time at={at} />
      {workflow === null ? (
        <span className="quiet">{type}</span>
      ) : (
        <Link href={`/workflows/${workflow}/triggers`}>
          <WorkflowName id={workflow} />
        </Link>
      )}
      <UntrustedText as="span" className="fill bad" text={reason ?? ""} />
    </li>
  ));
  return <Listed title={words.rejected} empty={words.noneRejected} items={items} />;
}
