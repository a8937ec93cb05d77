import { useVirtualizer } from "@tanstack/react-virtual";
import { type JSX, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { formatJson, readKind, readString } from "../json/raw.ts";
import { createTree, initialCount, type Root, type Row, type Shown } from "../json/tree.ts";
import { texts } from "../texts.ts";
import { Button, CopyButton } from "./button.tsx";
import { Icon } from "./icon.tsx";
import { UntrustedText } from "./untrusted-text.tsx";

const words = texts.common.json;

const longestText = 2_000;
/** A tree with more rows scrolls by itself, and renders only its visible rows. */
const mostRows = 60;
const rowHeight = 22;
/** A tree with more characters has a search field. */
const longestWithoutSearch = 600;

interface JsonViewProps {
  text: string;
  name?: string;
  /** Number of levels that start unfolded. */
  open?: number;
}

/** Shows one JSON value. */
export function JsonView({ text, name, open = 1 }: JsonViewProps): JSX.Element {
  return <JsonTree roots={useMemo(() => [{ key: name, text, open }], [name, text, open])} />;
}

interface JsonTreeProps {
  /** Pass the same array on every render. */
  roots: readonly Root[];
  /** Shows a value in place of its row. */
  show?: ((name: string, text: string) => ReactNode) | undefined;
}

/** Shows JSON values as one tree with search and copy. It lists only unfolded values, and renders only visible rows. */
export function JsonTree({ roots, show }: JsonTreeProps): JSX.Element {
  const list = useMemo(() => createTree(roots), [roots]);
  const [shown, setShown] = useState<Shown>({ toggled: new Map(), counts: new Map(), query: "" });
  const rows = useMemo(() => list(shown), [list, shown]);
  const hasSearch = roots.reduce((sum, { text }) => sum + text.length, 0) > longestWithoutSearch;
  const found = rows.filter(({ isFound }) => isFound).length;
  const toggle = ({ path, isOpen }: Row) =>
    setShown((before) => ({ ...before, toggled: new Map(before.toggled).set(path, !isOpen) }));
  const more = ({ path }: Row) =>
    setShown((before) => {
      const count = (before.counts.get(path) ?? initialCount) * 4;
      return { ...before, counts: new Map(before.counts).set(path, count) };
    });
  const showRow = (row: Row) => <RowView row={row} toggle={toggle} more={more} show={show} />;
  return (
    <div className="json-tree">
      {hasSearch && (
        <div className="json-search filter-text">
          <Icon name="search" size={14} />
          <input
            type="search"
            value={shown.query}
            placeholder={words.search}
            aria-label={words.search}
            onChange={(event) => setShown({ ...shown, query: event.target.value, toggled: new Map() })}
          />
          <span role="status" className="quiet small">
            {shown.query.trim() !== "" && words.found(found)}
          </span>
          <CopyButton text={() => formatJson(joinRoots(roots))} />
        </div>
      )}
      {rows.length > mostRows ? (
        <Rows rows={rows} showRow={showRow} />
      ) : (
        rows.map((row) => <div key={keyOf(row)}>{showRow(row)}</div>)
      )}
    </div>
  );
}

/** Joins the roots to one JSON text. If several roots have the same key, only the last of these roots counts. */
function joinRoots(roots: readonly Root[]): string {
  const [first] = roots;
  if (first && first.key === undefined) return first.text;
  const members = new Map(roots.map(({ key = "", text }) => [key, text]));
  return `{${Array.from(members, ([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`;
}

function keyOf({ path, isRest }: Row): string {
  return isRest ? `${path}\n` : path;
}

/** Long values have rows of several lines, so the rows are measured. */
function Rows({ rows, showRow }: { rows: readonly Row[]; showRow(row: Row): ReactNode }): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => keyOf(rows[index] as Row),
    overscan: 12,
  });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it
    <div ref={scroller} className="json-rows" role="group" aria-label={words.label} tabIndex={0}>
      <div className="virtual" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ key, index, start }) => (
          <div
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            style={{ transform: `translateY(${start}px)` }}
          >
            {showRow(rows[index] as Row)}
          </div>
        ))}
      </div>
    </div>
  );
}

interface RowViewProps extends Pick<JsonTreeProps, "show"> {
  row: Row;
  toggle(row: Row): void;
  more(row: Row): void;
}

function RowView({ row, toggle, more, show }: RowViewProps): JSX.Element {
  const { name, text, depth, isOpen, isList, isFound, isRest, root } = row;
  if (isRest) return <Rest depth={depth} more={() => more(row)} />;
  const special = isOpen === undefined ? show?.(name ?? "", text) : undefined;
  const isEmpty = text.length === 2;
  const line = special ?? (
    <>
      {isOpen === undefined ? (
        <div className="json-line">
          {name !== undefined && <Name name={name} />}
          <Scalar text={text} />
        </div>
      ) : (
        <button
          type="button"
          className="json-line json-fold"
          aria-expanded={isOpen}
          disabled={isEmpty}
          onClick={() => toggle(row)}
        >
          <Icon name={isOpen ? "down" : "right"} size={12} />
          {name !== undefined && <Name name={name} />}
          <span className="faint ellipsis">
            {isEmpty ? isList ? "[ ]" : "{ }" : isOpen ? isList ? "[" : "{" : <Preview text={text} />}
          </span>
        </button>
      )}
      <span className="json-copy">
        <CopyButton text={() => readString(text) ?? formatJson(text)} />
      </span>
    </>
  );
  return (
    <div className={`json-place ${root.look ?? ""}`} data-found={isFound || undefined}>
      {Array.from({ length: depth }, (_, level) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a level is identified by its number
        <i key={level} className="json-level" />
      ))}
      {line}
      {depth === 0 && root.note !== undefined && <span className="key-change">{root.note}</span>}
    </div>
  );
}

/** Lists further members when the user scrolls to this row. */
function Rest({ depth, more }: { depth: number; more(): void }): JSX.Element {
  const mark = useRef<HTMLDivElement>(null);
  const latest = useRef(more);
  latest.current = more;
  useEffect(() => {
    const observer = new IntersectionObserver(([seen]) => seen?.isIntersecting && latest.current());
    observer.observe(mark.current as HTMLDivElement);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={mark} className="json-place" data-depth={depth}>
      <span className="json-line faint">…</span>
    </div>
  );
}

function Preview({ text }: { text: string }): JSX.Element {
  return <UntrustedText text={text.length > 80 ? `${text.slice(0, 80)}…` : text} />;
}

/** Shows a key as the user wrote it: the chain of work stores a user's `$blob` as `$$blob`. */
function Name({ name }: { name: string }): JSX.Element {
  return (
    <span className="json-name">
      <UntrustedText text={name.replace(/^\$(\$+blob)$/, "$1")} />
    </span>
  );
}

/** Shows a string without escapes, or a number with all its digits. */
export function Scalar({ text }: { text: string }): JSX.Element {
  const [isComplete, setComplete] = useState(false);
  const kind = readKind(text);
  const value = kind === "text" ? (JSON.parse(text) as string) : text;
  const isLong = value.length > longestText && !isComplete;
  return (
    <span className={`json-${kind}`}>
      <UntrustedText text={isLong ? value.slice(0, longestText) : value} />
      {isLong && (
        <Button tone="ghost" onClick={() => setComplete(true)}>
          {texts.common.moreCharacters(value.length - longestText)}
        </Button>
      )}
    </span>
  );
}
