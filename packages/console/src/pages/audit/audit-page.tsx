import type { AuditRecord } from "@nova/client";
import { useMemo } from "react";
import { Link } from "wouter";
import { useClientSlugs, useList, usePages } from "../../api/queries.ts";
import { Button } from "../../parts/button.tsx";
import { clearFilters, FilterBar, SearchField, toChoices, useAddress } from "../../parts/filters.tsx";
import { PageHead } from "../../parts/page.tsx";
import { ListView, LoadMore } from "../../parts/states.tsx";
import { type Column, WindowedTable } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { filterNames, findSubjectPath, formatAction, formatDetail, matchesFilters, setupActor } from "../records.ts";

const words = texts.audit;
const none: readonly AuditRecord[] = [];

type KeyNames = ReadonlyMap<string, string>;

export function AuditPage() {
  const [filters, change] = useAddress(filterNames);
  const audit = usePages("/audit", { query: { client: filters.client, limit: 200 } });
  const names = useKeyNames(audit.isSuccess);
  const clients = useClientSlugs();
  const all = audit.data ?? none;
  const records = useMemo(() => all.filter((record) => matchesFilters(record, filters)), [all, filters]);
  const columns = useMemo(() => buildColumns(names), [names]);
  const actions = useMemo(() => [...new Set(all.map(({ action }) => action))].sort(), [all]);
  const actors = useMemo(() => [...new Set(all.map(({ by }) => by ?? setupActor))].sort(), [all]);
  return (
    <>
      <PageHead title={texts.nav.audit} note={audit.data && words.count(records.length, audit.hasNextPage)} />
      {!audit.error && (
        <FilterBar
          filters={filters}
          change={change}
          clears={filterNames}
          choices={[
            ["action", words.columns.action, actions.map((action) => [action, formatAction(action)])],
            ["by", words.columns.by, actors.map((actor) => [actor, getActorName(actor, names)])],
            ["client", words.columns.client, toChoices(clients)],
          ]}
        >
          <SearchField value={filters.text} label={words.search} onChange={(text) => change({ text })} />
        </FilterBar>
      )}
      <ListView
        query={audit}
        items={records}
        lines={12}
        icon="list"
        words={words}
        noneContent={
          Object.keys(filters).length > 0 && (
            <>
              <LoadMore query={audit} label={words.readMore} />
              <Button onClick={() => change(clearFilters(filterNames))}>{texts.runs.clear}</Button>
            </>
          )
        }
      >
        {() => (
          <WindowedTable
            className="audit-table"
            label={texts.nav.audit}
            items={records}
            columns={columns}
            keyOf={({ id }) => id}
            rowHeight={34}
            query={audit}
          />
        )}
      </ListView>
    </>
  );
}

/** Returns the names of keys by id; empty if the user's key may not list keys. */
function useKeyNames(enabled: boolean): KeyNames {
  const { data } = useList("/keys", {}, { enabled });
  return useMemo(() => new Map((data ?? []).map(({ id, name }) => [id, name || id])), [data]);
}

function getActorName(by: string | null, names: KeyNames): string {
  return by === null || by === setupActor ? texts.apiKeys.setUp : (names.get(by) ?? by);
}

function buildColumns(names: KeyNames): Column<AuditRecord>[] {
  const { columns } = words;
  return [
    [columns.at, ({ at }) => <Time at={at} />, "audit-at quiet"],
    [columns.action, ({ action }) => <b>{formatAction(action)}</b>],
    [columns.subject, (record) => <Subject record={record} />],
    [columns.detail, ({ detail }) => <UntrustedText text={formatDetail(detail)} />, "wide quiet"],
    [columns.client, ({ client_slug }) => client_slug, "wide quiet"],
    [
      columns.by,
      ({ by }) => <UntrustedText as="span" title={by ?? ""} text={getActorName(by, names)} />,
      "medium quiet",
    ],
  ];
}

function Subject({ record }: { record: AuditRecord }) {
  const path = findSubjectPath(record);
  const text = <UntrustedText text={record.subject} />;
  return <span title={record.subject}>{path === undefined ? text : <Link href={path}>{text}</Link>}</span>;
}
