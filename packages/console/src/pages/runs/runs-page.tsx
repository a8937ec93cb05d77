import type { Execution } from "@nova/client";
import { useEffect, useMemo, useRef } from "react";
import { Link, useLocation } from "wouter";
import { describeCount, useTriggerIds, useWorkflowChoices, useWorkflowName } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { type Bar, Chart } from "../../parts/chart.tsx";
import { clearFilters, FilterBar, SearchField, toChoices } from "../../parts/filters.tsx";
import { useKeys, useRowKeys } from "../../parts/keyboard.tsx";
import { LiveMark, PageHead } from "../../parts/page.tsx";
import { listLabels } from "../../parts/run-text.ts";
import { ListView, LoadMore } from "../../parts/states.tsx";
import { getStatusTone, statuses } from "../../parts/status.tsx";
import { formatClock, formatMoment } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";
import { BulkBar, RunTable, type Selection, useSelection } from "./run-table.tsx";
import { SaveView } from "./saved-views.tsx";
import { type Filters, filterNames, type Runs, rangesMs, useFilters, useRuns } from "./use-runs.ts";

const words = texts.runs;
const none: readonly Execution[] = [];
/** Maximum number of pages of the list that the page loads automatically while no loaded run matches the filters. */
const maxEmptyPages = 20;

/** All runs, newest first, with live updates. */
export function RunsPage() {
  const [filters, change] = useFilters();
  const runs = useRuns(filters);
  const { data = none, hasNextPage } = runs;
  const nameOf = useWorkflowName();
  const items = useMemo(() => data.filter((item) => matchesText(item, filters, nameOf)), [data, filters, nameOf]);
  // The selection must survive a change of filters, during which the list is not mounted.
  const selection = useSelection(items);
  return (
    <>
      <PageHead title={words.title} note={describeCount(runs, items.length, words.end)} end={<LiveMark />} />
      {items.length > 0 && (
        <RunChart items={items} rangeMs={filters.range && rangesMs[filters.range]} hasMore={hasNextPage} />
      )}
      <Filter items={data} filters={filters} change={change} />
      <ListView
        query={runs}
        items={items}
        lines={12}
        icon="runs"
        words={words}
        emptyContent={
          <>
            <code className="command well">{words.emptyCommand}</code>
            <Link href="/workflows" className="button">
              {words.emptyLink}
            </Link>
          </>
        }
        noneContent={
          Object.keys(filters).length > 0 && (
            <>
              <ReadMore runs={runs} />
              <Button onClick={() => change(clearFilters(filterNames))}>{words.clear}</Button>
            </>
          )
        }
      >
        {() => <RunList runs={runs} items={items} selection={selection} />}
      </ListView>
    </>
  );
}

/** Returns whether a run matches the text filter, which the server does not support. */
function matchesText(
  { execution_id, workflow }: Execution,
  { text }: Filters,
  nameOf: (workflow: string) => string,
): boolean {
  const wanted = text?.toLowerCase() ?? "";
  return [execution_id, workflow, nameOf(workflow)].some((one) => one.toLowerCase().includes(wanted));
}

interface FilterProps {
  items: readonly Execution[];
  filters: Filters;
  change: ReturnType<typeof useFilters>[1];
}

function Filter({ items, filters, change }: FilterProps) {
  const isFiltered = Object.keys(filters).length > 0;
  const nameOf = useWorkflowName();
  const ids = useChoices([...useWorkflowChoices().map(([id]) => id), ...items.map(({ workflow }) => workflow)]);
  const workflows = ids.map(([id]): [string, string] => [id, nameOf(id)]);
  const clients = useChoices(items.map(({ client }) => client));
  const errors = useChoices(items.flatMap(({ error }) => error?.class ?? []));
  const labels = useChoices([...items.flatMap(listLabels), ...(filters.label === undefined ? [] : [filters.label])]);
  const triggers = useChoices([...useTriggerIds(), ...items.flatMap(({ trigger }) => trigger ?? [])]);
  return (
    <FilterBar
      filters={filters}
      change={change}
      several={["status"]}
      clears={filterNames}
      choices={[
        ["status", words.columns.status, statuses.map((status) => [status, texts.status[status]])],
        ["workflow", words.columns.workflow, workflows],
        ["client", words.columns.client, clients],
        ["range", words.filters.time, Object.entries(words.times)],
        ["error", words.filters.error, errors],
        ["trigger", words.filters.trigger, triggers],
        ...(labels.length > 0 ? [["label", words.filters.label, labels] as const] : []),
      ]}
      end={
        isFiltered && (
          <SaveView search={new URLSearchParams(Object.entries(filters) as [string, string][]).toString()} />
        )
      }
    >
      <SearchField value={filters.text} label={words.filters.search} onChange={(text) => change({ text })} />
    </FilterBar>
  );
}

/** Returns the choices of a filter: all values that the page has received since the user opened it. */
function useChoices(values: readonly string[]) {
  const { current: collected } = useRef(new Set<string>());
  for (const value of values) collected.add(value);
  return toChoices([...collected].sort());
}

function RunList({ runs, items, selection }: { runs: Runs; items: readonly Execution[]; selection: Selection }) {
  const [, go] = useLocation();
  const at = useRowKeys(items.length, words.keys, (index) => go(`/runs/${items[index]?.execution_id}`));
  const current = items[at];
  useKeys({
    x: { label: words.keys.select, run: () => current && selection.toggle(current.execution_id, at, false) },
    Escape: { label: words.clearSelection, run: () => selection.replace([]) },
  });
  return (
    <div className="run-list">
      <RunTable runs={runs} items={items} selection={selection} at={at} />
      <BulkBar items={items} selection={selection} />
    </div>
  );
}

/** Reads older runs while no loaded run matches the filters, and offers to read more. */
function ReadMore({ runs }: { runs: Runs }) {
  const { hasNextPage, isFetchingNextPage, pageCount, fetchNextPage } = runs;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && pageCount < maxEmptyPages) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, pageCount, fetchNextPage]);
  return <LoadMore query={runs} label={isFetchingNextPage ? words.reading : words.loadMore} />;
}

const barCount = 60;

interface RunChartProps {
  /** The loaded runs, newest first. */
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
    <div className="bar">
      <Chart
        label={texts.runs.chart(items.length)}
        series={series}
        bars={bars}
        top={top}
        heightPx={52}
        end={
          <span className="end wide faint">
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
