import { useQuery } from "@tanstack/react-query";
import { type JSX, useCallback, useMemo, useRef } from "react";
import { useNova } from "../../api/nova.ts";
import { useClientSlugs } from "../../api/use-lists.ts";
import { useAddress } from "../../parts/address.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { useKeys } from "../../parts/keys.tsx";
import { SearchText } from "../../parts/search-text.tsx";
import { Empty, Loading } from "../../parts/states.tsx";
import { PageFailure } from "../../parts/trouble.tsx";
import { texts } from "../../texts.ts";
import { AuditList } from "./audit-list.tsx";
import { type AuditFilters, filterNames, fits, setUp } from "./fitting.ts";
import { type Audit, useAudit } from "./use-audit.ts";

const words = texts.audit;

/** Who did what, newest first. */
export function AuditPage(): JSX.Element {
  const [filters, change] = useAddress(filterNames);
  const audit = useAudit(filters.client);
  const names = useKeyNames(!audit.isLoading && !audit.error);
  const records = useMemo(() => audit.records.filter((one) => fits(one, filters)), [audit.records, filters]);
  const onNearEnd = useNearEnd(audit);
  const clear = () => change(Object.fromEntries(filterNames.map((name) => [name, undefined])));
  return (
    <>
      <header className="page-head">
        <h1>{words.title}</h1>
        {!audit.isLoading && !audit.error && (
          <span className="quiet">{words.count(records.length, audit.hasMore)}</span>
        )}
      </header>
      {!audit.error && <Bar {...{ filters, change, clear, audit, names }} />}
      {audit.isLoading ? (
        <Loading lines={12} />
      ) : audit.error ? (
        <PageFailure error={audit.error} onRetry={audit.retry} />
      ) : records.length === 0 ? (
        <Nothing audit={audit} isFiltered={Object.keys(filters).length > 0} clear={clear} />
      ) : (
        <AuditList records={records} names={names} hasMore={audit.hasMore} onNearEnd={onNearEnd} />
      )}
    </>
  );
}

function useNearEnd({ isReadingMore, readMore }: Audit): () => void {
  return useCallback(() => {
    if (!isReadingMore) readMore();
  }, [isReadingMore, readMore]);
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
  audit: Audit;
  names: ReadonlyMap<string, string>;
}

function Bar({ filters, change, clear, audit, names }: BarProps): JSX.Element {
  const search = useRef<HTMLInputElement>(null);
  const clients = useClientSlugs();
  const { actions, people } = useMemo(
    () => ({
      actions: [...new Set(audit.records.map(({ action }) => action))].sort(),
      people: [...new Set(audit.records.map(({ by }) => by ?? setUp))].sort(),
    }),
    [audit.records],
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
      {audit.hasMore && (
        <Button disabled={audit.isReadingMore} onClick={audit.readMore}>
          {words.readMore}
        </Button>
      )}
      <Button onClick={clear}>{texts.runs.clear}</Button>
    </Empty>
  );
}
