import type { AuditRecord } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { type JSX, useCallback, useMemo, useRef } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useClientSlugs, usePages } from "../../api/queries.ts";
import { useAddress } from "../../parts/address.ts";
import { Button } from "../../parts/button.tsx";
import { FilterBar, FilterSelect, SearchField, toChoices } from "../../parts/filters.tsx";
import { useKeys } from "../../parts/keyboard.tsx";
import { PageHead } from "../../parts/page.tsx";
import { Empty, LoadMore, QueryView } from "../../parts/states.tsx";
import { type Column, WindowedTable } from "../../parts/table.tsx";
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

type KeyNames = ReadonlyMap<string, string>;

/** All audit records, newest first. */
export function AuditPage(): JSX.Element {
  const [filters, change] = useAddress(filterNames);
  const audit = useAudit(filters.client);
  const { isFetchingNextPage, fetchNextPage } = audit;
  const names = useKeyNames(audit.isSuccess);
  const all = audit.data ?? none;
  const records = useMemo(() => all.filter((record) => matchesFilters(record, filters)), [all, filters]);
  const columns = useMemo(() => buildColumns(names), [names]);
  const onNearEnd = useCallback(() => {
    if (!isFetchingNextPage) void fetchNextPage();
  }, [isFetchingNextPage, fetchNextPage]);
  const clear = () => change(Object.fromEntries(filterNames.map((name) => [name, undefined])));
  return (
    <>
      <PageHead title={words.title}>
        {audit.data && <span className="quiet">{words.count(records.length, audit.hasNextPage)}</span>}
      </PageHead>
      {!audit.error && <Filter filters={filters} change={change} clear={clear} names={names} records={all} />}
      <QueryView query={audit} lines={12}>
        {() =>
          records.length > 0 ? (
            <WindowedTable
              className="audit-table"
              label={words.title}
              items={records}
              columns={columns}
              keyOf={getId}
              rowHeight={44}
              hasMore={audit.hasNextPage}
              onNearEnd={onNearEnd}
            />
          ) : Object.keys(filters).length > 0 ? (
            <Empty icon="search" title={words.none} hint={words.noneHint}>
              <LoadMore query={audit} label={words.readMore} />
              <Button onClick={clear}>{texts.runs.clear}</Button>
            </Empty>
          ) : (
            <Empty icon="list" title={words.empty} hint={words.emptyHint} />
          )
        }
      </QueryView>
    </>
  );
}

function getId({ id }: AuditRecord): string {
  return id;
}

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

/** Names of keys by id; empty if the user's key may not list keys. */
function useKeyNames(enabled: boolean): KeyNames {
  const nova = useNova();
  const { data } = useQuery({ queryKey: ["keys"], enabled, queryFn: () => Array.fromAsync(nova.keys.list()) });
  return useMemo(() => new Map((data ?? []).map(({ id, name }) => [id, name || id])), [data]);
}

function getActorName(by: string | null, names: KeyNames): string {
  return by === null || by === setupActor ? texts.apiKeys.setUp : (names.get(by) ?? by);
}

interface FilterProps {
  filters: AuditFilters;
  change: ReturnType<typeof useAddress<(typeof filterNames)[number]>>[1];
  clear(): void;
  records: readonly AuditRecord[];
  names: KeyNames;
}

function Filter({ filters, change, clear, records, names }: FilterProps): JSX.Element {
  const search = useRef<HTMLInputElement>(null);
  const clients = useClientSlugs();
  const actions = useMemo(() => [...new Set(records.map(({ action }) => action))].sort(), [records]);
  const actors = useMemo(() => [...new Set(records.map(({ by }) => by ?? setupActor))].sort(), [records]);
  useKeys({ "/": { label: texts.runs.keys.filter, run: () => search.current?.focus() } });
  return (
    <FilterBar isFiltered={Object.keys(filters).length > 0} onClear={clear}>
      <SearchField input={search} value={filters.text} label={words.search} onChange={(text) => change({ text })} />
      <FilterSelect
        label={words.columns.action}
        value={filters.action}
        values={actions.map((action) => [action, words.actions[action]])}
        onChange={(action) => change({ action })}
      />
      <FilterSelect
        label={words.columns.by}
        value={filters.by}
        values={actors.map((actor) => [actor, getActorName(actor, names)])}
        onChange={(by) => change({ by })}
      />
      <FilterSelect
        label={words.columns.client}
        value={filters.client}
        values={toChoices(clients)}
        onChange={(client) => change({ client })}
      />
    </FilterBar>
  );
}

function buildColumns(names: KeyNames): Column<AuditRecord>[] {
  const { columns } = words;
  return [
    { label: columns.at, show: ({ at }) => <Time at={at} />, look: "audit-at quiet" },
    { label: columns.action, show: ({ action }) => <b>{words.actions[action]}</b> },
    { label: columns.subject, show: (record) => <Subject record={record} /> },
    {
      label: columns.detail,
      show: ({ detail }) => <UntrustedText text={formatDetail(detail)} />,
      look: "audit-optional quiet",
    },
    { label: columns.client, show: ({ client_slug }) => client_slug, look: "audit-optional quiet" },
    {
      label: columns.by,
      show: ({ by }) => (
        <span title={by ?? undefined}>
          <UntrustedText text={getActorName(by, names)} />
        </span>
      ),
      look: "audit-by quiet",
    },
  ];
}

function Subject({ record }: { record: AuditRecord }): JSX.Element {
  const path = findSubjectPath(record);
  const text = <UntrustedText text={record.subject} />;
  return <span title={record.subject}>{path === undefined ? text : <Link href={path}>{text}</Link>}</span>;
}
