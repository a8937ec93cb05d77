import type { Execution } from "@nova/client";
import { type JSX, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { useTriggerIds, useWorkflowIds } from "../../api/queries.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { FilterSelect, SearchField } from "../../parts/filters.tsx";
import { useKeys } from "../../parts/keyboard.tsx";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { statuses } from "../../parts/status.tsx";
import { texts } from "../../texts.ts";
import { BulkBar, type Selection, useSelection } from "./bulk-bar.tsx";
import { Chart } from "./chart.tsx";
import { RunTable } from "./run-table.tsx";
import { type Filters, type Runs, rangesMs, useFilters, useRuns } from "./use-runs.ts";
import "./runs-page.css";

/** All runs, newest first, with live updates. */
export function RunsPage(): JSX.Element {
  const [filters, change] = useFilters();
  const runs = useRuns(filters);
  const items = useMemo(() => runs.items.filter((item) => matchesText(item, filters)), [runs.items, filters]);
  const selection = useSelection(items);
  const search = useRef<HTMLInputElement>(null);
  const at = useRowKeys(items, selection, search);
  const known = useKnown(runs.items);
  return (
    <>
      <header className="page-head">
        <h1>{texts.runs.title}</h1>
        {!runs.isLoading && <span className="quiet">{formatCount(runs, items.length)}</span>}
        <span className="page-head-end live">{texts.common.live}</span>
      </header>
      {items.length > 0 && (
        <Chart items={items} rangeMs={filters.range && rangesMs[filters.range]} hasMore={runs.hasMore} />
      )}
      <FilterBar filters={filters} change={change} known={known} search={search} />
      <List
        runs={runs}
        items={items}
        selection={selection}
        at={at}
        isFiltered={Object.keys(filters).length > 0}
        change={change}
      />
    </>
  );
}

function formatCount({ hasMore }: Runs, count: number): string {
  return `${texts.runs.end(count)}${hasMore ? "+" : ""}`;
}

interface ListProps {
  runs: Runs;
  items: readonly Execution[];
  selection: Selection;
  at: number;
  isFiltered: boolean;
  change: ReturnType<typeof useFilters>[1];
}

function List({ runs, items, selection, at, isFiltered, change }: ListProps): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const { readMore, isReadingMore } = runs;
  const onNearEnd = useCallback(() => {
    if (!isReadingMore) readMore();
  }, [readMore, isReadingMore]);
  if (runs.isLoading) return <Loading lines={12} />;
  if (runs.error) return <Failure error={runs.error} onRetry={runs.retry} />;
  if (items.length === 0) return <Nothing runs={runs} isFiltered={isFiltered} change={change} />;
  return (
    <div className="run-list">
      <RunTable
        items={items}
        selection={selection}
        at={at}
        onNearEnd={onNearEnd}
        scroller={scroller}
        hasMore={runs.hasMore}
      />
      <BulkBar selection={selection} />
    </div>
  );
}

/** Maximum number of pages that are loaded automatically while no run matches. */
const maxEmptyPages = 20;

function Nothing({ runs, isFiltered, change }: Pick<ListProps, "runs" | "isFiltered" | "change">): JSX.Element {
  const words = texts.runs;
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
  const nothing = { workflow: undefined, client: undefined, status: undefined, range: undefined };
  return (
    <Empty icon="search" title={words.none} hint={words.noneHint}>
      {hasMore && (
        <Button disabled={isReadingMore} onClick={readMore}>
          {isReadingMore ? words.reading : words.loadMore}
        </Button>
      )}
      <Button onClick={() => change({ ...nothing, error: undefined, trigger: undefined, text: undefined })}>
        {words.clear}
      </Button>
    </Empty>
  );
}

/** Whether a run matches the text filter, which the server does not support. */
function matchesText(item: Execution, { text }: Filters): boolean {
  if (text === undefined) return true;
  return item.execution_id.toLowerCase().includes(text.toLowerCase()) || item.workflow.includes(text.toLowerCase());
}

/** Collects the values of filters: existing ones, and all that appeared since the page was opened. */
function useKnown(items: readonly Execution[]) {
  const [workflows, triggers] = [useWorkflowIds(), useTriggerIds()];
  const { current: seen } = useRef({
    workflow: new Set<string>(),
    client: new Set<string>(),
    error: new Set<string>(),
    trigger: new Set<string>(),
  });
  return useMemo(() => {
    for (const id of workflows) seen.workflow.add(id);
    for (const id of triggers) seen.trigger.add(id);
    for (const { workflow, client, error, trigger } of items) {
      seen.workflow.add(workflow);
      seen.client.add(client);
      if (error) seen.error.add(error.class);
      if (trigger !== null) seen.trigger.add(trigger);
    }
    const sorted = (values: ReadonlySet<string>) => [...values].sort();
    return {
      workflow: sorted(seen.workflow),
      client: sorted(seen.client),
      error: sorted(seen.error),
      trigger: sorted(seen.trigger),
    };
  }, [items, workflows, triggers, seen]);
}

function useRowKeys(
  items: readonly Execution[],
  selection: Selection,
  search: { current: HTMLInputElement | null },
): number {
  const [at, setAt] = useState(-1);
  const [, go] = useLocation();
  const { keys } = texts.runs;
  const step = (by: number) => setAt((before) => Math.max(0, Math.min(items.length - 1, before + by)));
  const next = { label: keys.next, run: () => step(1) };
  const previous = { label: keys.previous, run: () => step(-1) };
  const current = items[at];
  useKeys({
    j: next,
    ArrowDown: next,
    k: previous,
    ArrowUp: previous,
    Enter: { label: keys.open, run: () => current && go(`/runs/${current.execution_id}`) },
    x: { label: keys.select, run: () => current && selection.toggle(current.execution_id, at, false) },
    "/": { label: keys.filter, run: () => search.current?.focus() },
    Escape: { label: texts.runs.clearSelection, run: () => selection.replace([]) },
  });
  return at;
}

interface FilterBarProps {
  filters: Filters;
  change(change: Partial<Record<keyof Filters, string | undefined>>): void;
  /** Values to choose from. */
  known: Record<"workflow" | "client" | "error" | "trigger", readonly string[]>;
  search: RefObject<HTMLInputElement | null>;
}

export function FilterBar({ filters, change, known, search }: FilterBarProps): JSX.Element {
  const { filters: words } = texts.runs;
  const labels = (values: readonly string[]) => values.map((value): [string, string] => [value, value]);
  const choices: [keyof Filters, string, [string, string][]][] = [
    ["status", words.status, statuses.map((status) => [status, texts.status[status]])],
    ["workflow", words.workflow, labels(known.workflow)],
    ["client", words.client, labels(known.client)],
    ["range", words.time, Object.entries(texts.runs.times)],
    ["error", words.error, labels(known.error)],
    ["trigger", words.trigger, labels(known.trigger)],
  ];
  const isFiltered = Object.keys(filters).length > 0;
  return (
    <div className="filter-bar" role="search">
      <SearchField
        input={search}
        value={filters.text}
        label={words.search}
        onChange={(text) => change({ text: text || undefined })}
      />
      {choices.map(([name, label, values]) => (
        <FilterSelect
          key={name}
          label={label}
          value={filters[name]}
          values={values}
          onChange={(to) => change({ [name]: to })}
        />
      ))}
      {isFiltered && (
        <IconButton
          icon="cross"
          label={texts.runs.clear}
          onClick={() => change(Object.fromEntries(Object.keys(filters).map((name) => [name, undefined])))}
        />
      )}
    </div>
  );
}
