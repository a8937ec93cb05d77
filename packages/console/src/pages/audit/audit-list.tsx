import type { AuditRecord } from "@nova/client";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type JSX, useEffect, useRef } from "react";
import { Link } from "wouter";
import { Foreign } from "../../parts/foreign.tsx";
import { Time } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";
import { addressOf, detailText } from "./fitting.ts";
import "./audit-list.css";

interface AuditListProps {
  records: readonly AuditRecord[];
  names: ReadonlyMap<string, string>;
  hasMore: boolean;
  onNearEnd(): void;
}

const rowHeight = 42;
const nearEnd = 20;

/** Only the rows in sight are there. */
export function AuditList({ records, names, hasMore, onNearEnd }: AuditListProps): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: records.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && last >= records.length - nearEnd) onNearEnd();
  }, [hasMore, last, records.length, onNearEnd]);
  return (
    <div className="audit" role="table" aria-rowcount={records.length + 1} aria-label={texts.audit.title}>
      <div role="rowgroup">
        <div className="audit-row audit-head" role="row" aria-rowindex={1}>
          {Object.entries(texts.audit.columns).map(([name, label]) => (
            <span key={name} role="columnheader" className={`audit-${name}`}>
              {label}
            </span>
          ))}
        </div>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by the keyboard */}
      <div ref={scroller} className="audit-rows" role="rowgroup" tabIndex={0}>
        <div className="audit-all" role="presentation" style={{ height: rows.getTotalSize() }}>
          {shown.map(({ index, start }) => {
            const record = records[index] as AuditRecord;
            return <Row key={record.id} record={record} index={index} top={start} names={names} />;
          })}
        </div>
      </div>
    </div>
  );
}

interface RowProps extends Pick<AuditListProps, "names"> {
  record: AuditRecord;
  index: number;
  top: number;
}

function Row({ record, index, top, names }: RowProps): JSX.Element {
  const { at, action, by, client_slug, subject, detail } = record;
  const address = addressOf(record);
  const name = by === null ? texts.apiKeys.setUp : (names.get(by) ?? by);
  return (
    <div className="audit-row" role="row" aria-rowindex={index + 2} style={{ transform: `translateY(${top}px)` }}>
      <span role="cell" className="audit-at quiet">
        <Time at={at} />
      </span>
      <span role="cell" className="audit-action">
        {texts.audit.actions[action]}
      </span>
      <span role="cell" className="audit-subject" title={subject}>
        {address === undefined ? (
          <Foreign text={subject} />
        ) : (
          <Link href={address}>
            <Foreign text={subject} />
          </Link>
        )}
      </span>
      <span role="cell" className="audit-detail quiet">
        <Foreign text={detailText(detail)} />
      </span>
      <span role="cell" className="audit-client quiet">
        {client_slug}
      </span>
      <span role="cell" className="audit-by quiet" title={by ?? undefined}>
        <Foreign text={name} />
      </span>
    </div>
  );
}
