import type { Execution } from "@nova/client";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type JSX, type MouseEvent, memo, type RefObject, useEffect, useRef } from "react";
import { Link, useLocation } from "wouter";
import { StatusBadge } from "../../parts/status.tsx";
import { Duration, formatUsd, Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import type { Selection } from "./bulk-bar.tsx";
import "./runs-page.css";

interface RunTableProps {
  items: readonly Execution[];
  selection: Selection;
  /** The row that is selected by keyboard. */
  at: number;
  hasMore: boolean;
  onNearEnd(): void;
  scroller: RefObject<HTMLDivElement | null>;
}

const rowHeight = 44;
const nearEnd = 20;

/** A table of runs that renders only visible rows. */
export function RunTable({ items, selection, at, hasMore, onNearEnd, scroller }: RunTableProps): JSX.Element {
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && last >= items.length - nearEnd) onNearEnd();
  }, [hasMore, last, items.length, onNearEnd]);
  const scrollTo = useRef(rows.scrollToIndex);
  scrollTo.current = rows.scrollToIndex;
  useEffect(() => {
    if (at >= 0) scrollTo.current(at, { align: "auto" });
  }, [at]);
  return (
    <div className="run-table" role="table" aria-rowcount={items.length + 1} aria-label={texts.runs.title}>
      <Head items={items} selection={selection} />
      <div ref={scroller} className="run-rows" role="rowgroup">
        <div className="run-rows-all" role="presentation" style={{ height: rows.getTotalSize() }}>
          {shown.map(({ index, start }) => {
            const item = items[index] as Execution;
            return (
              <Row
                key={item.execution_id}
                item={item}
                index={index}
                top={start}
                isAt={index === at}
                isSelected={selection.has(item.execution_id)}
                toggle={selection.toggle}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Head({ items, selection }: Pick<RunTableProps, "items" | "selection">): JSX.Element {
  const { columns } = texts.runs;
  const isAll = items.length > 0 && selection.ids.size >= items.length;
  return (
    <div role="rowgroup">
      <div className="run-row run-head" role="row" aria-rowindex={1}>
        <span role="columnheader">
          <input
            type="checkbox"
            aria-label={texts.runs.selectAll}
            checked={isAll}
            onChange={() => selection.replace(isAll ? [] : items.map(({ execution_id }) => execution_id))}
          />
        </span>
        {Object.entries(columns).map(([name, label]) => (
          <span key={name} role="columnheader" className={`run-${name}`}>
            {label}
          </span>
        ))}
      </div>
    </div>
  );
}

interface RowProps {
  item: Execution;
  index: number;
  top: number;
  isAt: boolean;
  isSelected: boolean;
  toggle: Selection["toggle"];
}

const Row = memo(function Row({ item, index, top, isAt, isSelected, toggle }: RowProps): JSX.Element {
  const [, go] = useLocation();
  const { execution_id: id, workflow, version, client, status, started_at, duration_ms, spent, error } = item;
  const address = `/runs/${id}`;
  const open = (event: MouseEvent) => {
    if ((event.target as Element).closest("a, input, label") || !getSelection()?.isCollapsed) return;
    go(address);
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard uses the link in the row
    <div
      className="run-row"
      role="row"
      aria-rowindex={index + 2}
      data-at={isAt || undefined}
      data-selected={isSelected || undefined}
      style={{ transform: `translateY(${top}px)` }}
      onClick={open}
    >
      <span role="cell">
        <label className="run-check">
          <input
            type="checkbox"
            aria-label={texts.runs.select(id)}
            checked={isSelected}
            onChange={(event) => toggle(id, index, (event.nativeEvent as globalThis.MouseEvent).shiftKey)}
          />
        </label>
      </span>
      <span role="cell" className="run-status">
        <StatusBadge status={status} />
      </span>
      <span role="cell" className="run-workflow">
        <Link href={address}>{workflow}</Link>
        <span className="quiet"> v{version}</span>
      </span>
      <span role="cell" className="run-id mono quiet">
        {id.slice(0, 5)}…{id.slice(-8)}
      </span>
      <span role="cell" className="run-client quiet">
        {client}
      </span>
      <span role="cell" className="run-started quiet">
        <Time at={started_at} />
      </span>
      <span role="cell" className="run-duration">
        <Duration from={started_at} ms={duration_ms} />
      </span>
      <span role="cell" className="run-cost quiet">
        {spent ? formatUsd(spent.cost_usd) : ""}
      </span>
      <span role="cell" className="run-result">
        {error ? (
          <span className="run-error">
            <b>{error.node}</b> <UntrustedText text={error.message} />
          </span>
        ) : (
          <Origin item={item} />
        )}
      </span>
    </div>
  );
});

function Origin({ item: { restarted_from, parent, trigger } }: { item: Execution }): JSX.Element {
  const by = trigger === null ? "" : texts.runs.startedBy(trigger);
  const words = [by, restarted_from && texts.runs.restarted, parent && texts.runs.inside].filter(Boolean);
  return <span className="quiet">{words.join(", ")}</span>;
}
