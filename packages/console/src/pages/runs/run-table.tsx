import type { Execution } from "@nova/client";
import { type JSX, useCallback, useMemo } from "react";
import { Link, useLocation } from "wouter";
import { StatusBadge } from "../../parts/status.tsx";
import { type Column, WindowedTable } from "../../parts/table.tsx";
import { Duration, formatUsd, Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import type { Selection } from "./bulk-bar.tsx";

const { columns: labels, select, selectAll, title } = texts.runs;

interface RunTableProps {
  items: readonly Execution[];
  selection: Selection;
  /** Index of the row that is selected by keyboard. */
  at: number;
  hasMore: boolean;
  onNearEnd(): void;
}

/** The list of runs with a checkbox in each row. */
export function RunTable({ items, selection, at, hasMore, onNearEnd }: RunTableProps): JSX.Element {
  const [, go] = useLocation();
  const isAllSelected = items.length > 0 && selection.ids.size >= items.length;
  const columns = useMemo(
    (): Column<Execution>[] => [
      {
        label: selectAll,
        head: (
          <input
            type="checkbox"
            aria-label={selectAll}
            checked={isAllSelected}
            onChange={() => selection.replace(isAllSelected ? [] : items.map(({ execution_id }) => execution_id))}
          />
        ),
        show: ({ execution_id: id }, index) => (
          <label className="run-check">
            <input
              type="checkbox"
              aria-label={select(id)}
              checked={selection.has(id)}
              onChange={({ nativeEvent }) => selection.toggle(id, index, (nativeEvent as MouseEvent).shiftKey)}
            />
          </label>
        ),
      },
      ...dataColumns,
    ],
    [items, selection, isAllSelected],
  );
  const isSelected = useCallback(({ execution_id }: Execution) => selection.has(execution_id), [selection]);
  const open = useCallback(({ execution_id }: Execution) => go(`/runs/${execution_id}`), [go]);
  return (
    <WindowedTable
      className="runs-table"
      label={title}
      items={items}
      columns={columns}
      keyOf={getId}
      at={at}
      rowHeight={44}
      hasMore={hasMore}
      onNearEnd={onNearEnd}
      isSelected={isSelected}
      onOpen={open}
    />
  );
}

function getId({ execution_id }: Execution): string {
  return execution_id;
}

const dataColumns: readonly Column<Execution>[] = [
  { label: labels.status, show: ({ status }) => <StatusBadge status={status} /> },
  {
    label: labels.workflow,
    show: ({ execution_id, workflow, version }) => (
      <>
        <Link href={`/runs/${execution_id}`}>{workflow}</Link>
        <span className="quiet"> v{version}</span>
      </>
    ),
  },
  {
    label: labels.id,
    show: ({ execution_id: id }) => `${id.slice(0, 5)}…${id.slice(-8)}`,
    look: "run-optional mono quiet",
  },
  { label: labels.client, show: ({ client }) => client, look: "run-optional quiet" },
  { label: labels.started, show: ({ started_at }) => <Time at={started_at} />, look: "run-started quiet" },
  {
    label: labels.duration,
    show: ({ started_at, duration_ms }) => <Duration from={started_at} ms={duration_ms} />,
    look: "run-number",
  },
  {
    label: labels.cost,
    show: ({ spent }) => (spent ? formatUsd(spent.cost_usd) : ""),
    look: "run-optional run-number quiet",
  },
  { label: labels.result, show: (item) => <Result item={item} />, look: "run-result" },
];

function Result({ item: { error, restarted_from, parent, trigger } }: { item: Execution }): JSX.Element {
  if (error) {
    return (
      <span className="run-error">
        <b>{error.node}</b> <UntrustedText text={error.message} />
      </span>
    );
  }
  const startedBy = trigger === null ? "" : texts.runs.startedBy(trigger);
  const origins = [startedBy, restarted_from && texts.runs.restarted, parent && texts.runs.inside].filter(Boolean);
  return <span className="quiet">{origins.join(", ")}</span>;
}
