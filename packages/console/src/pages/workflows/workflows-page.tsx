import type { Execution, Schemas, Workflow } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { type JSX, useMemo, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useAddress } from "../../parts/address.ts";
import { Button } from "../../parts/button.tsx";
import { SearchField } from "../../parts/filters.tsx";
import { useKeys } from "../../parts/keyboard.tsx";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { getStatusTone, statuses } from "../../parts/status.tsx";
import { formatDuration, formatUsd } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import "../../parts/sheet.css";
import "./workflows-page.css";

const words = texts.workflows;
const pauseMs = 10_000;
/** Short, because a user who publishes a workflow looks for it here. */
const listPauseMs = 3_000;
/** Number of recent runs that are read for all workflows together. */
const latestRuns = 200;

/** All workflows with statistics of their runs. */
export function WorkflowsPage(): JSX.Element {
  const [{ text }, change] = useAddress(["text"]);
  const search = useRef<HTMLInputElement>(null);
  const nova = useNova();
  const workflows = useQuery({
    queryKey: ["workflows", "all"],
    refetchInterval: listPauseMs,
    queryFn: () => Array.fromAsync(nova.workflows.list()),
  });
  const shown = useMemo(() => {
    const wanted = text?.toLowerCase() ?? "";
    return (workflows.data ?? []).filter(({ id, name }) => id.includes(wanted) || name.toLowerCase().includes(wanted));
  }, [workflows.data, text]);
  const at = useWorkflowKeys(shown, search);
  return (
    <>
      <header className="page-head">
        <h1>{words.title}</h1>
        {workflows.data && <span className="quiet">{words.count(shown.length)}</span>}
      </header>
      <div className="filter-bar" role="search">
        <SearchField value={text} label={words.search} onChange={(to) => change({ text: to })} input={search} />
      </div>
      {workflows.isPending ? (
        <Loading />
      ) : workflows.error ? (
        <Failure error={workflows.error} onRetry={() => void workflows.refetch()} />
      ) : workflows.data.length === 0 ? (
        <Empty icon="flow" title={words.empty} hint={words.emptyHint}>
          <code className="command">{words.emptyCommand}</code>
        </Empty>
      ) : shown.length === 0 ? (
        <Empty icon="search" title={words.none} hint={words.noneHint}>
          <Button onClick={() => change({ text: undefined })}>{words.clear}</Button>
        </Empty>
      ) : (
        <WorkflowTable workflows={shown} at={at} />
      )}
    </>
  );
}

function useFigures() {
  const nova = useNova();
  const figures = useQuery({
    queryKey: ["/analytics/workflows", {}],
    staleTime: 30_000,
    queryFn: () => Array.fromAsync(nova.list("/analytics/workflows", {})),
  });
  const runs = useQuery({
    queryKey: ["runs", "latest", latestRuns],
    refetchInterval: pauseMs,
    queryFn: ({ signal }) =>
      nova.ask(nova.api.GET("/executions", { params: { query: { limit: latestRuns } }, signal })),
  });
  const byWorkflow = useMemo(() => new Map(figures.data?.map((one) => [one.workflow, one] as const)), [figures.data]);
  const lastRuns = useMemo(() => Map.groupBy(runs.data?.items ?? [], ({ workflow }) => workflow), [runs.data]);
  return { byWorkflow, lastRuns };
}

function WorkflowTable({ workflows, at }: { workflows: readonly Workflow[]; at: number }): JSX.Element {
  const { byWorkflow, lastRuns } = useFigures();
  const { columns } = words;
  return (
    <div className="page-body workflows-body">
      <div className="card sheet-box workflows">
        <table className="sheet">
          <thead>
            <tr>
              <th scope="col">{columns.name}</th>
              <th scope="col">{columns.version}</th>
              <th scope="col">{columns.last}</th>
              <th scope="col" className="wide">
                {columns.success}
              </th>
              <th scope="col" className="wide number">
                {columns.p95}
              </th>
              <th scope="col" className="wide number">
                {columns.cost}
              </th>
            </tr>
          </thead>
          <tbody>
            {workflows.map((workflow, index) => (
              <Row
                key={workflow.id}
                workflow={workflow}
                figures={byWorkflow.get(workflow.id)}
                runs={lastRuns.get(workflow.id) ?? []}
                isAt={index === at}
              />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

interface RowProps {
  workflow: Workflow;
  figures: Schemas["WorkflowFigures"] | undefined;
  runs: readonly Execution[];
  isAt: boolean;
}

function Row({ workflow: { id, name, ...workflow }, figures, runs, isAt }: RowProps): JSX.Element {
  const { active_version: active, version, status, paused_at } = workflow;
  return (
    <tr data-at={isAt || undefined}>
      <td>
        <span className="workflow-name">
          <Link href={`/workflows/${id}`}>
            <UntrustedText text={name} />
          </Link>
          {paused_at !== null && <span className="badge workflow-badge tone-wait">{words.paused}</span>}
        </span>
        {name !== id && <span className="mono quiet">{id}</span>}
      </td>
      <td className="fixed">
        {active === null ? <span className="quiet">{words.noVersion}</span> : words.version(active)}
        {(status !== "ready" || version !== active) && (
          <span className={`workflow-newer tone-${status === "failed" ? "bad" : "idle"}`}>
            {words.newer(version, words.statuses[status])}
          </span>
        )}
      </td>
      <td className="fixed">
        <LastRuns workflow={id} runs={runs} />
      </td>
      <td className="fixed wide">{figures && <Rate figures={figures} />}</td>
      <td className="fixed wide number">{figures && figures.p95_ms !== null && formatDuration(figures.p95_ms)}</td>
      <td className="fixed wide number">{figures && formatUsd(figures.cost_usd)}</td>
    </tr>
  );
}

function Rate({ figures: { success_rate: rate, runs } }: { figures: Schemas["WorkflowFigures"] }): JSX.Element {
  const percent = `${Math.floor(rate * 1000) / 10}%`;
  return (
    <span className="rate">
      <span className="rate-bar tone-bad" aria-hidden="true">
        <span className="tone-ok" style={{ width: `${rate * 100}%` }} />
      </span>
      {words.rate(percent, runs)}
    </span>
  );
}

function useWorkflowKeys(workflows: readonly Workflow[], search: { current: HTMLInputElement | null }): number {
  const [at, setAt] = useState(-1);
  const [, go] = useLocation();
  const step = (by: number) => setAt((before) => Math.max(0, Math.min(workflows.length - 1, before + by)));
  const next = { label: words.keys.next, run: () => step(1) };
  const previous = { label: words.keys.previous, run: () => step(-1) };
  const current = workflows[at];
  useKeys({
    j: next,
    ArrowDown: next,
    k: previous,
    ArrowUp: previous,
    "/": { label: texts.runs.keys.filter, run: () => search.current?.focus() },
    ...(current && { Enter: { label: words.keys.open, run: () => go(`/workflows/${current.id}`) } }),
  });
  return at;
}

const shown = 12;

interface LastRunsProps {
  workflow: string;
  /** Newest first. */
  runs: readonly Execution[];
}

/**
 * A mark per recent run, newest at the right. Marks of failed runs are taller, so that colour is not the only signal.
 */
export function LastRuns({ workflow, runs }: LastRunsProps): JSX.Element {
  const last = runs.slice(0, shown).toReversed();
  if (last.length === 0) return <span className="quiet">{words.noRuns}</span>;
  const told = statuses.flatMap((status) => {
    const count = last.filter((run) => run.status === status).length;
    return count === 0 ? [] : [`${count} ${texts.status[status]}`];
  });
  const label = `${words.lastRuns(last.length)}: ${told.join(", ")}`;
  return (
    <Link href={`/?workflow=${workflow}`} className="last-runs" aria-label={label} title={label}>
      {last.map(({ execution_id: id, status }) => (
        <span key={id} className={`last-run tone-${getStatusTone(status)}`} data-status={status} />
      ))}
    </Link>
  );
}
