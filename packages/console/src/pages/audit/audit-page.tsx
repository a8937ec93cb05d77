import type { AuditRecord } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type JSX, useCallback, useEffect, useMemo, useRef } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useClientSlugs, usePages } from "../../api/queries.ts";
import { useAddress } from "../../parts/address.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { FilterSelect, SearchField } from "../../parts/filters.tsx";
import { useKeys } from "../../parts/keyboard.tsx";
import { PageHead } from "../../parts/page.tsx";
import { Empty, LoadMore, QueryView } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import {
  type AuditFilters,
  filterNames,
  findSubjectPath,
  formatDetail,
  matchesFilters,
  setupActor,
} from "./fitting.ts";
import "./audit-page.css";

const words = texts.audit;
const none: readonly AuditRecord[] = [];
const pageSize = 200;

type Audit = ReturnType<typeof useAudit>;

/** All audit records, newest first. */
export function AuditPage(): JSX.Element {
  const [filters, change] = useAddress(filterNames);
  const audit = useAudit(filters.client);
  const names = useKeyNames(audit.isSuccess);
  const all = audit.data ?? none;
  const records = useMemo(() => all.filter((one) => matchesFilters(one, filters)), [all, filters]);
  const onNearEnd = useNearEnd(audit);
  const clear = () => change(Object.fromEntries(filterNames.map((name) => [name, undefined])));
  return (
    <>
      <PageHead title={words.title}>
        {audit.data && <span className="quiet">{words.count(records.length, audit.hasNextPage)}</span>}
      </PageHead>
      {!audit.error && <Bar filters={filters} change={change} clear={clear} names={names} records={all} />}
      <QueryView query={audit} lines={12}>
        {() =>
          records.length === 0 ? (
            <Nothing audit={audit} isFiltered={Object.keys(filters).length > 0} clear={clear} />
          ) : (
            <AuditList records={records} names={names} hasMore={audit.hasNextPage} onNearEnd={onNearEnd} />
          )
        }
      </QueryView>
    </>
  );
}

/** Loads older pages on demand. */
function useAudit(client: string | undefined) {
  const nova = useNova();
  return usePages({
    queryKey: ["audit", client],
    read: (cursor, signal) => {
      const query = { limit: pageSize, ...(client !== undefined && { client }), ...cursor };
      return nova.ask(nova.api.GET("/audit", { params: { query }, signal }));
    },
  });
}

function useNearEnd({ isFetchingNextPage, fetchNextPage }: Audit): () => void {
  return useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage();
  }, [isFetchingNextPage, fetchNextPage]);
}

/** Names of keys by id; empty if the user's key may not list keys. */
function useKeyNames(enabled: boolean): ReadonlyMap<string, string> {
  const nova = useNova();
  const { data } = useQuery({ queryKey: ["keys"], enabled, queryFn: () => Array.fromAsync(nova.keys.list()) });
  return useMemo(() => new Map((data ?? []).map(({ id, name }) => [id, name || id])), [data]);
}

interface BarProps {
  filters: AuditFilters;
  change: ReturnType<typeof useAddress<(typeof filterNames)[number]>>[1];
  clear(): void;
  records: readonly AuditRecord[];
  names: ReadonlyMap<string, string>;
}

function Bar({ filters, change, clear, records, names }: BarProps): JSX.Element {
  const search = useRef<HTMLInputElement>(null);
  const clients = useClientSlugs();
  const { actions, people } = useMemo(
    () => ({
      actions: [...new Set(records.map(({ action }) => action))].sort(),
      people: [...new Set(records.map(({ by }) => by ?? setupActor))].sort(),
    }),
    [records],
  );
  useKeys({ "/": { label: texts.runs.keys.filter, run: () => search.current?.focus() } });
  return (
    <div className="filter-bar" role="search">
      <SearchField input={search} value={filters.text} label={words.search} onChange={(text) => change({ text })} />
      <FilterSelect
        label={words.columns.action}
        value={filters.action}
        values={actions.map((one) => [one, words.actions[one]])}
        onChange={(action) => change({ action })}
      />
      <FilterSelect
        label={words.columns.by}
        value={filters.by}
        values={people.map((one) => [one, one === setupActor ? texts.apiKeys.setUp : (names.get(one) ?? one)])}
        onChange={(by) => change({ by })}
      />
      <FilterSelect
        label={words.columns.client}
        value={filters.client}
        values={clients.map((one) => [one, one])}
        onChange={(client) => change({ client })}
      />
      {Object.keys(filters).length > 0 && <IconButton icon="cross" label={texts.runs.clear} onClick={clear} />}
    </div>
  );
}

function Nothing({ audit, isFiltered, clear }: { audit: Audit; isFiltered: boolean; clear(): void }): JSX.Element {
  if (!isFiltered) return <Empty icon="list" title={words.empty} hint={words.emptyHint} />;
  return (
    <Empty icon="search" title={words.none} hint={words.noneHint}>
      <LoadMore query={audit} label={words.readMore} />
      <Button onClick={clear}>{texts.runs.clear}</Button>
    </Empty>
  );
}

interface AuditListProps {
  records: readonly AuditRecord[];
  names: ReadonlyMap<string, string>;
  hasMore: boolean;
  onNearEnd(): void;
}

const rowHeight = 42;
const nearEnd = 20;

/** A table that renders only visible rows. */
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
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must be able to scroll it */}
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
  const address = findSubjectPath(record);
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
          <UntrustedText text={subject} />
        ) : (
          <Link href={address}>
            <UntrustedText text={subject} />
          </Link>
        )}
      </span>
      <span role="cell" className="audit-detail quiet">
        <UntrustedText text={formatDetail(detail)} />
      </span>
      <span role="cell" className="audit-client quiet">
        {client_slug}
      </span>
      <span role="cell" className="audit-by quiet" title={by ?? undefined}>
        <UntrustedText text={name} />
      </span>
    </div>
  );
}
