import { type Execution, formatPercentile, formatRate, formatUsd, type Workflow } from "@nova/client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link, useLocation } from "wouter";
import { useNova, workConcurrently } from "../../api/nova.ts";
import { useList, usePages } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { FilterBar, SearchField, useAddress } from "../../parts/filters.tsx";
import { useRowKeys } from "../../parts/keyboard.tsx";
import { PageHead } from "../../parts/page.tsx";
import { ListView } from "../../parts/states.tsx";
import { Badge, getStatusTone, statuses } from "../../parts/status.tsx";
import { Table } from "../../parts/table.tsx";

import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { FirstSteps, NewWorkflowButton } from "./new-workflow.tsx";

const words = texts.workflows;
const runsPauseMs = 10_000;
/**
 * Milliseconds between two reads of the list. The page reads often, because a user who has published a workflow looks
 * for it here.
 */
const listPauseMs = 3_000;
/** Number of recent runs that the page reads for all workflows together. */
const recentRuns = 200;
const maxMarks = 12;

export function WorkflowsPage() {
  const [filters, change] = useAddress(["text"]);
  const query = useList("/workflows", {}, { refetchInterval: listPauseMs });
  const workflows = useMemo(() => {
    const wanted = filters.text?.toLowerCase() ?? "";
    return (query.data ?? []).filter(({ id, name }) => id.includes(wanted) || name.toLowerCase().includes(wanted));
  }, [query.data, filters.text]);
  return (
    <>
      <PageHead
        title={texts.nav.workflows}
        note={query.data && words.count(workflows.length)}
        end={<NewWorkflowButton isMain />}
      />
      <FilterBar filters={filters} change={change}>
        <SearchField value={filters.text} label={words.search} onChange={(text) => change({ text })} />
      </FilterBar>
      <ListView
        query={query}
        items={workflows}
        icon="flow"
        words={words}
        emptyContent={<FirstSteps />}
        noneContent={
          filters.text !== undefined && <Button onClick={() => change({ text: undefined })}>{words.clear}</Button>
        }
      >
        {() => <WorkflowTable workflows={workflows} />}
      </ListView>
    </>
  );
}

function WorkflowTable({ workflows }: { workflows: readonly Workflow[] }) {
  const statistics = useList("/analytics/workflows", {}, { staleTime: 30_000 });
  const recent = usePages("/executions", { query: { limit: recentRuns } }, { refetchInterval: runsPauseMs });
  const figures = useMemo(
    () => new Map(statistics.data?.map((one) => [one.workflow, one] as const)),
    [statistics.data],
  );
  const runs = useMemo(() => Map.groupBy(recent.data ?? [], ({ workflow }) => workflow), [recent.data]);
  const older = useOlderRuns(recent.data === undefined ? [] : workflows.flatMap(({ id }) => (runs.has(id) ? [] : id)));
  const [, go] = useLocation();
  const at = useRowKeys(workflows.length, words.keys, (index) => go(`/workflows/${workflows[index]?.id}`));
  const { columns } = words;
  return (
    <div className="page-body workflows-body">
      <div className="card">
        <Table
          items={workflows}
          at={at}
          keyOf={({ id }) => id}
          columns={[
            [columns.name, (workflow) => <Name workflow={workflow} />],
            [columns.version, (workflow) => <Version workflow={workflow} />, "fixed"],
            [columns.last, ({ id }) => <LastRuns workflow={id} runs={runs.get(id) ?? older?.get(id)} />, "fixed"],
            [
              columns.success,
              ({ id }) => {
                const one = figures.get(id);
                return one && words.rate(formatRate(one.success_rate), one.runs);
              },
              "fixed wide",
            ],
            [
              texts.costs.columns.p95,
              ({ id }) => {
                const ms = figures.get(id)?.p95_ms;
                return ms != null && formatPercentile(ms);
              },
              "fixed wide number",
            ],
            [
              texts.costs.columns.cost,
              ({ id }) => (figures.get(id)?.cost_usd ? formatUsd(figures.get(id)?.cost_usd ?? 0) : ""),
              "fixed wide number",
            ],
          ]}
        />
      </div>
    </div>
  );
}

/** Reads the newest runs of each workflow without any run among the recent runs of all workflows. */
function useOlderRuns(ids: readonly string[]): ReadonlyMap<string, readonly Execution[]> | undefined {
  const nova = useNova();
  const query = useQuery({
    queryKey: ["runs", "older", ids],
    enabled: ids.length > 0,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
    async queryFn({ signal }) {
      const found = new Map<string, readonly Execution[]>();
      await workConcurrently(ids, async (workflow) => {
        const params = { query: { workflow, limit: maxMarks } };
        found.set(workflow, (await nova.ask(nova.api.GET("/executions", { params, signal }))).items);
      });
      return found;
    },
  });
  return query.data;
}

function Name({ workflow: { id, name, paused_at } }: { workflow: Workflow }) {
  return (
    <span className="workflow-name line break">
      <Link href={`/workflows/${id}`}>
        <UntrustedText text={name} />
      </Link>
      {name !== id && <span className="mono quiet">{id}</span>}
      {paused_at !== null && <Badge tone="wait" text={words.paused} />}
    </span>
  );
}

function Version({ workflow }: { workflow: Workflow }) {
  const { active_version: active, version, status } = workflow;
  return (
    <>
      {active === null ? <span className="quiet">{words.noVersion}</span> : words.version(active)}
      {(status !== "ready" || version !== active) && (
        <span className={`workflow-newer toned small tone-${status === "failed" ? "bad" : "idle"}`}>
          {words.newer(version, words.statuses[status])}
        </span>
      )}
    </>
  );
}

/** A mark per recent run, newest at the right. Marks of failed runs are taller, so that colour is not the only signal. */
function LastRuns({ workflow, runs }: { workflow: string; runs: readonly Execution[] | undefined }) {
  if (!runs) return null;
  const last = runs.slice(0, maxMarks).toReversed();
  if (last.length === 0) return <span className="quiet">{words.noRuns}</span>;
  const counts = statuses.flatMap((status) => {
    const count = last.filter((run) => run.status === status).length;
    return count === 0 ? [] : [`${count} ${texts.status[status]}`];
  });
  const label = `${words.lastRuns(last.length)}: ${counts.join(", ")}`;
  return (
    <Link href={`/?workflow=${workflow}`} className="last-runs" aria-label={label} title={label}>
      {last.map(({ execution_id: id, status }) => (
        <span key={id} className={`tone-${getStatusTone(status)}`} data-status={status} />
      ))}
    </Link>
  );
}
