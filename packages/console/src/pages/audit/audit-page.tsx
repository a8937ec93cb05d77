import type { AuditRecord } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { type JSX, useCallback, useMemo, useRef } from "react";
import { useNova } from "../../api/nova.ts";
import { useClientSlugs } from "../../api/use-lists.ts";
import { usePages } from "../../api/use-pages.ts";
import { useAddress } from "../../parts/address.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { useKeys } from "../../parts/keys.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { More, Read } from "../../parts/read.tsx";
import { SearchText } from "../../parts/search-text.tsx";
import { Empty } from "../../parts/states.tsx";
import { texts } from "../../texts.ts";
import { AuditList } from "./audit-list.tsx";
import { type AuditFilters, filterNames, fits, setUp } from "./fitting.ts";

const words = texts.audit;
const none: readonly AuditRecord[] = [];
const pageSize = 200;

type Audit = ReturnType<typeof useAudit>;

/** Who did what, newest first. */
export function AuditPage(): JSX.Element {
  const [filters, change] = useAddress(filterNames);
  const audit = useAudit(filters.client);
  const names = useKeyNames(audit.isSuccess);
  const all = audit.data ?? none;
  const records = useMemo(() => all.filter((one) => fits(one, filters)), [all, filters]);
  const onNearEnd = useNearEnd(audit);
  const clear = () => change(Object.fromEntries(filterNames.map((name) => [name, undefined])));
  return (
    <>
      <PageHead title={words.title}>
        {audit.data && <span className="quiet">{words.count(records.length, audit.hasNextPage)}</span>}
      </PageHead>
      {!audit.error && <Bar {...{ filters, change, clear, names }} records={all} />}
      <Read query={audit} lines={12}>
        {() =>
          records.length === 0 ? (
            <Nothing audit={audit} isFiltered={Object.keys(filters).length > 0} clear={clear} />
          ) : (
            <AuditList records={records} names={names} hasMore={audit.hasNextPage} onNearEnd={onNearEnd} />
          )
        }
      </Read>
    </>
  );
}

/** Older pages are read as they are wanted. */
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

/** Names of keys by id; where the key may not list them, their ids are shown. */
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
      people: [...new Set(records.map(({ by }) => by ?? setUp))].sort(),
    }),
    [records],
  );
  useKeys({ "/": { says: texts.runs.keys.filter, run: () => search.current?.focus() } });
  return (
    <div className="filter-bar" role="search">
      <SearchText input={search} value={filters.text} label={words.search} onChange={(text) => change({ text })} />
      <Choice
        label={words.columns.action}
        value={filters.action}
        values={actions.map((one) => [one, words.actions[one]])}
        onChange={(action) => change({ action })}
      />
      <Choice
        label={words.columns.by}
        value={filters.by}
        values={people.map((one) => [one, one === setUp ? texts.apiKeys.setUp : (names.get(one) ?? one)])}
        onChange={(by) => change({ by })}
      />
      <Choice
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
      <More query={audit} label={words.readMore} />
      <Button onClick={clear}>{texts.runs.clear}</Button>
    </Empty>
  );
}
