import { useVirtualizer } from "@tanstack/react-virtual";
import { type JSX, type MouseEvent, memo, type ReactNode, useEffect, useRef } from "react";
import type { PagedQuery } from "./states.tsx";

/**
 * A column of a table: its label, its cells, their CSS classes, and the content that replaces the label in the header.
 * Classes: `number`, `wide` (hidden on narrow screens), `fixed` (one line), `sheet-end` (buttons).
 */
export type Column<Item> = readonly [
  label: string,
  show: (item: Item, index: number) => ReactNode,
  look?: string | undefined,
  head?: ReactNode,
];

interface TableProps<Item> {
  /** The accessible name; not needed below a heading. */
  label?: string;
  items: readonly Item[];
  /** Pass the same array on every render of a windowed table. */
  columns: readonly Column<Item>[];
  keyOf(item: Item): string;
  /** Index of the row that is selected by keyboard. */
  at?: number;
}

/** A table with all its rows, for lists of moderate length. */
export function Table<Item>({ label: name, items, columns, keyOf, at }: TableProps<Item>): JSX.Element {
  return (
    <div className="scroll">
      <table className="sheet" aria-label={name}>
        <thead>
          <tr>
            {columns.map(([title, , look]) => (
              <th key={title} scope="col" className={look}>
                {look === "sheet-end" ? <span className="hidden-label">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item, index) => (
            <tr key={keyOf(item)} data-at={index === at || undefined}>
              {columns.map(([title, show, look], place) => (
                <td key={title} className={look} role={place === 0 ? "rowheader" : undefined}>
                  {show(item, index)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface WindowedTableProps<Item> extends TableProps<Item> {
  /** CSS class that defines the grid columns of its rows. */
  className: string;
  rowHeight: number;
  /** Reads the next page when the user scrolls near the last loaded row. */
  query: PagedQuery;
  isSelected?(item: Item): boolean;
  onOpen?(item: Item): void;
}

/** Renders only visible rows, and scrolls to the row `at`. All rows have the same height. */
export function useVisibleRows<Scroller extends HTMLElement>(count: number, rowHeight: number, at = -1) {
  const scroller = useRef<Scroller>(null);
  const rows = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const scrollTo = useRef(rows.scrollToIndex);
  scrollTo.current = rows.scrollToIndex;
  useEffect(() => {
    if (at >= 0) scrollTo.current(at, { align: "auto" });
  }, [at]);
  return { scroller, visible: rows.getVirtualItems(), height: rows.getTotalSize() };
}

/** Distance to the last row, in rows, at which more rows are loaded. */
const nearEnd = 20;

/** A table for thousands of items, which renders only visible rows. */
export function WindowedTable<Item>(props: WindowedTableProps<Item>): JSX.Element {
  const { label, items, columns, keyOf, at = -1, className, rowHeight, query, isSelected, onOpen } = props;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = query;
  const { scroller, visible, height } = useVisibleRows<HTMLDivElement>(items.length, rowHeight, at);
  const last = visible.at(-1)?.index ?? 0;
  useEffect(() => {
    const isNearEnd = last >= items.length - nearEnd;
    if (hasNextPage && !isFetchingNextPage && isNearEnd) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, last, items.length]);
  return (
    <div className={`window ${className}`} role="table" aria-rowcount={items.length + 1} aria-label={label}>
      <div role="rowgroup">
        <div className="window-row window-head" role="row" aria-rowindex={1}>
          {columns.map(([title, , look, head]) => (
            <span key={title} role="columnheader" className={look}>
              {head ?? title}
            </span>
          ))}
        </div>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it */}
      <div ref={scroller} className="window-rows" role="rowgroup" tabIndex={0}>
        <div className="virtual" role="presentation" style={{ height }}>
          {visible.map(({ index, start }) => {
            const item = items[index] as Item;
            return (
              <WindowRow
                key={keyOf(item)}
                item={item}
                index={index}
                top={start}
                columns={columns as readonly Column<unknown>[]}
                isAt={index === at}
                isSelected={isSelected?.(item) ?? false}
                onOpen={onOpen as ((item: unknown) => void) | undefined}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}

interface WindowRowProps {
  item: unknown;
  index: number;
  top: number;
  columns: readonly Column<unknown>[];
  isAt: boolean;
  isSelected: boolean;
  onOpen: ((item: unknown) => void) | undefined;
}

const WindowRow = memo(function WindowRow(props: WindowRowProps): JSX.Element {
  const { item, index, top, columns, isAt, isSelected, onOpen } = props;
  const open = (event: MouseEvent) => {
    const isOnControl = (event.target as Element).closest("a, input, label") !== null;
    const isSelectingText = !getSelection()?.isCollapsed;
    if (!isOnControl && !isSelectingText) onOpen?.(item);
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the keyboard uses the link in the row
    <div
      className="window-row"
      role="row"
      aria-rowindex={index + 2}
      data-at={isAt || undefined}
      data-selected={isSelected || undefined}
      data-opens={onOpen !== undefined || undefined}
      style={{ transform: `translateY(${top}px)` }}
      onClick={open}
    >
      {columns.map(([title, show, look]) => (
        <span key={title} role="cell" className={look}>
          {show(item, index)}
        </span>
      ))}
    </div>
  );
});
