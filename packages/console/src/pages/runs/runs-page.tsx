import type { Execution } from "@nova/client";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { Link, useLocation } from "wouter";
import { useTriggerIds, useWorkflowIds } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { type Bar, Chart } from "../../parts/chart.tsx";
import { clearFilters, FilterBar, SearchField, toChoices } from "../../parts/filters.tsx";
import { useKeys, useRowKeys } from "../../parts/keyboard.tsx";
import { LiveMark, PageHead } from "../../parts/page.tsx";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { getStatusTone, statuses } from "../../parts/status.tsx";
import { formatClock, formatMoment } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";
import { BulkBar, RunTable, type Selection, useSelection } from "./run-table.tsx";
import { type Filters, filterNames, type Runs, rangesMs, useFilters, useRuns } from "./use-runs.ts";
import "./runs-page.css";

const words = texts.runs;
/** Maximum number of pages that are loaded automatically while no run matches. */
const maxEmptyPages = 20;

/** All runs, newest first, with live updates. */
export function RunsPage() {
  const [filters, change] = useFilters();
  const runs = useRuns(filters);
  const items = useMemo(() => runs.items.filter((item) => matchesText(item, filters)), [runs.items, filters]);
  // The selection must survive a change of filters, during which the list is not mounted.
  const selection = useSelection(items);
  const isFiltered = Object.keys(filters).length > 0;
  const clear = () => change(clearFilters(filterNames));
  return (
    <>
      <PageHead title={words.title} end={<LiveMark />}>
        {!runs.isLoading && <span className="quiet">{`${words.end(items.length)}${runs.hasMore ? "+" : ""}`}</span>}
      </PageHead>
      {items.length > 0 && (
        <RunChart items={items} rangeMs={filters.range && rangesMs[filters.range]} hasMore={runs.hasMore} />
      )}
      <Filter items={runs.items} filters={filters} change={change} />
      {runs.isLoading ? (
        <Loading lines={12} />
      ) : runs.error ? (
        <Failure error={runs.error} onRetry={runs.retry} />
      ) : items.length === 0 ? (
        <Nothing runs={runs} isFiltered={isFiltered} clear={clear} />
      ) : (
        <RunList runs={runs} items={items} selection={selection} />
      )}
    </>
  );
}

/** Whether a run matches the text filter, which the server does not support. */
function matchesText({ execution_id, workflow }: Execution, { text }: Filters): boolean {
  const lowerText = text?.toLowerCase() ?? "";
  return execution_id.toLowerCase().includes(lowerText) || workflow.includes(lowerText);
}

interface FilterProps {
  items: readonly Execution[];
  filters: Filters;
  change: ReturnType<typeof useFilters>[1];
}

function Filter({ items, filters, change }: FilterProps) {
  const values = useFilterValues(items);
  return (
    <FilterBar
      filters={filters}
      change={change}
      clears={filterNames}
      choices={[
        ["status", words.filters.status, statuses.map((status) => [status, texts.status[status]])],
        ["workflow", words.filters.workflow, toChoices(values.workflow)],
        ["client", words.filters.client, toChoices(values.client)],
        ["range", words.filters.time, Object.entries(words.times)],
        ["error", words.filters.error, toChoices(values.error)],
        ["trigger", words.filters.trigger, toChoices(values.trigger)],
      ]}
    >
      <SearchField value={filters.text} label={words.filters.search} onChange={(text) => change({ text })} />
    </FilterBar>
  );
}

/** Collects the values of filters: existing ones, and all that appeared since the page was opened. */
function useFilterValues(items: readonly Execution[]) {
  const workflows = useWorkflowIds();
  const triggers = useTriggerIds();
  const { current: collected } = useRef({
    workflow: new Set<string>(),
    client: new Set<string>(),
    error: new Set<string>(),
    trigger: new Set<string>(),
  });
  return useMemo(() => {
    for (const id of workflows) collected.workflow.add(id);
    for (const id of triggers) collected.trigger.add(id);
    for (const { workflow, client, error, trigger } of items) {
      collected.workflow.add(workflow);
      collected.client.add(client);
      if (error) collected.error.add(error.class);
      if (trigger !== null) collected.trigger.add(trigger);
    }
    const sort = (values: ReadonlySet<string>) => [...values].sort();
    return {
      workflow: sort(collected.workflow),
      client: sort(collected.client),
      error: sort(collected.error),
      trigger: sort(collected.trigger),
    };
  }, [items, workflows, triggers, collected]);
}

function RunList({ runs, items, selection }: { runs: Runs; items: readonly Execution[]; selection: Selection }) {
  const { hasMore, readMore, isReadingMore } = runs;
  const [, go] = useLocation();
  const at = useRowKeys(items.length, words.keys, (index) => go(`/runs/${items[index]?.execution_id}`));
  const current = items[at];
  useKeys({
    x: { label: words.keys.select, run: () => current && selection.toggle(current.execution_id, at, false) },
    Escape: { label: words.clearSelection, run: () => selection.replace([]) },
  });
  const onNearEnd = useCallback(() => {
    if (!isReadingMore) readMore();
  }, [readMore, isReadingMore]);
  return (
    <div className="run-list">
      <RunTable items={items} selection={selection} at={at} hasMore={hasMore} onNearEnd={onNearEnd} />
      <BulkBar selection={selection} />
    </div>
  );
}

function Nothing({ runs, isFiltered, clear }: { runs: Runs; isFiltered: boolean; clear(): void }) {
  const { hasMore, isReadingMore, pageCount, readMore } = runs;
  useEffect(() => {
    if (hasMore && !isReadingMore && pageCount < maxEmptyPages) readMore();
  }, [hasMore, isReadingMore, pageCount, readMore]);
  if (!isFiltered) {
    return (
      <Empty icon="runs" title={words.empty} hint={words.emptyHint}>
        <code className="command">{words.emptyCommand}</code>
        <Link href="/workflows" className="button">
          {words.emptyLink}
        </Link>
      </Empty>
    );
  }
  return (
    <Empty icon="search" title={words.none} hint={words.noneHint}>
      {hasMore && (
        <Button disabled={isReadingMore} onClick={readMore}>
          {isReadingMore ? words.reading : words.loadMore}
        </Button>
      )}
      <Button onClick={clear}>{words.clear}</Button>
    </Empty>
  );
}

const barCount = 60;

interface RunChartProps {
  /** Newest first. */
  items: readonly Execution[];
  rangeMs: number | undefined;
  hasMore: boolean;
}

function RunChart({ items, rangeMs, hasMore }: RunChartProps) {
  const { bars, top, fromMs, toMs } = useMemo(() => buildBars(items, rangeMs, hasMore), [items, rangeMs, hasMore]);
  const series = statuses.map((status) => {
    const count = items.filter((item) => item.status === status).length;
    return {
      name: texts.status[status],
      className: `tone-${getStatusTone(status)}`,
      total: count.toLocaleString("en"),
    };
  });
  return (
    <div className="runs-chart">
      <Chart
        label={texts.runs.chart(items.length)}
        series={series}
        bars={bars}
        top={top}
        heightPx={52}
        end={
          <span className="runs-chart-span">
            {formatMoment(fromMs)} – {formatMoment(toMs)}
          </span>
        }
      />
    </div>
  );
}

function buildBars(items: readonly Execution[], rangeMs: number | undefined, hasMore: boolean) {
  const times = items.map(({ started_at }) => Date.parse(started_at));
  const toMs = Date.now();
  const oldest = times.reduce((least, time) => Math.min(least, time), toMs);
  const widthMs = Math.max(1000, Math.ceil((rangeMs ?? toMs - oldest) / barCount));
  const fromMs = toMs - barCount * widthMs;
  const counts = Array.from({ length: barCount }, () => statuses.map(() => 0));
  for (const [index, { status }] of items.entries()) {
    const place = Math.max(0, barCount - 1 - Math.floor((toMs - (times[index] as number)) / widthMs));
    const values = counts[place] as number[];
    const series = statuses.indexOf(status);
    values[series] = (values[series] ?? 0) + 1;
  }
  const bars = counts.map((values, index): Bar => {
    const startMs = fromMs + index * widthMs;
    const isUnknown = hasMore && startMs + widthMs <= oldest;
    return { key: startMs, values, isUnknown, title: formatBarTitle(startMs, widthMs, values, isUnknown) };
  });
  const top = counts.reduce((most, values) => Math.max(most, sum(values)), 1);
  return { bars, top, fromMs, toMs };
}

function formatBarTitle(fromMs: number, widthMs: number, values: readonly number[], isUnknown: boolean): string {
  if (isUnknown) return texts.runs.unread;
  const counts = statuses.flatMap((status, index) =>
    values[index] ? [`${values[index]} ${texts.status[status]}`] : [],
  );
  return `${formatClock(fromMs)} – ${formatClock(fromMs + widthMs)}: ${sum(values) === 0 ? "0" : counts.join(", ")}`;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
