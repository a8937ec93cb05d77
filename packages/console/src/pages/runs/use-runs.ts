import type { Execution } from "@nova/client";
import { type InfiniteData, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { useNova, workConcurrently } from "../../api/nova.ts";
import { useAddress } from "../../parts/filters.tsx";
import { type Named, readParams } from "../../parts/params.ts";
import { describeError } from "../../parts/states.tsx";
import { statuses } from "../../parts/status.tsx";
import { texts } from "../../texts.ts";

interface Page {
  items: Execution[];
  next_cursor: string | null;
}

const pageSize = 100;
const firstPauseMs = 1_000;
const longestPauseMs = 10_000;
const growth = 1.4;

/** Reads runs page by page, and polls the first page for new runs. */
export function useRuns(filters: Filters) {
  const nova = useNova();
  const queries = useQueryClient();
  const filter: Filters = useMemo(() => omitUndefined({ ...filters, text: undefined }), [filters]);
  const queryKey = ["runs", filter];
  const read = async (cursor: string | undefined, signal: AbortSignal): Promise<Page> => {
    const query = { ...buildRunQuery(filter), ...(cursor !== undefined && { cursor }), limit: pageSize };
    return nova.ask(nova.api.GET("/executions", { params: { query }, signal }));
  };
  const pages = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    // Older pages are not refreshed. A separate query refreshes the newest page.
    staleTime: Number.POSITIVE_INFINITY,
  });
  const [pauseMs, setPauseMs] = useState(firstPauseMs);
  useQuery({
    queryKey: ["runs", "newest", filter],
    enabled: pages.isSuccess,
    refetchInterval: pauseMs,
    async queryFn({ signal }) {
      const newest = await read(undefined, signal);
      const previous = queries.getQueryData<InfiniteData<Page>>(queryKey);
      const after = previous && mergeNewest(previous, newest);
      setPauseMs((ms) => (after === previous ? Math.min(longestPauseMs, ms * growth) : firstPauseMs));
      if (after !== previous) queries.setQueryData(queryKey, after);
      return null;
    },
  });
  useEffect(() => {
    if (filter) setPauseMs(firstPauseMs);
  }, [filter]);
  const data = useMemo(() => pages.data && listUniqueRuns(pages.data.pages), [pages.data]);
  // `pageCount` also counts pages without items. A filter that few runs match leads to many such pages.
  return { ...pages, data, pageCount: pages.data?.pages.length ?? 0 };
}

/**
 * Builds the query of the API for filters. The text filter is not part of the query, because the API cannot filter by
 * text.
 */
export function buildRunQuery({ workflow, client, status, range, error, trigger, label }: Filters) {
  const from = range && new Date(Date.now() - rangesMs[range]).toISOString();
  return omitUndefined({ workflow, client, status, error_class: error, trigger, label, from });
}

/** Counts the runs that match filters, up to `limit`. For more runs, returns the limit with a `+`, such as `200+`. */
export function useRunCount(filters: Filters, refetchInterval: number, limit = 200): string | undefined {
  const nova = useNova();
  const { data } = useQuery({
    queryKey: ["runs", "count", filters, limit],
    refetchInterval,
    async queryFn({ signal }) {
      const query = { ...buildRunQuery(filters), limit };
      const { items, next_cursor } = await nova.ask(nova.api.GET("/executions", { params: { query }, signal }));
      return `${items.length}${next_cursor === null ? "" : "+"}`;
    },
  });
  return data;
}

/**
 * Requests an action for each run. A refused request does not stop the other requests. Returns the ids of the runs with
 * a refused request, each with the reason.
 */
export async function requestForRuns(ids: readonly string[], request: (id: string) => Promise<unknown>) {
  const refused: { id: string; reason: string }[] = [];
  await workConcurrently(ids, (id) => request(id).catch((error) => refused.push({ id, reason: describeError(error) })));
  return refused;
}

/** Reads the filters in the search part of an address. */
export function readFilters(search: string): Filters {
  return parseFilters(readParams(new URLSearchParams(search), filterNames));
}

export type Runs = ReturnType<typeof useRuns>;

/**
 * Adds the new and changed runs of the newest page. If nothing changed, returns the same object, so that React does not
 * render the list.
 */
function mergeNewest(previous: InfiniteData<Page>, newest: Page): InfiniteData<Page> {
  const knownRuns = new Map(previous.pages.flatMap(({ items }) => items).map((item) => [item.execution_id, item]));
  const changed = newest.items.filter((item) => !isSame(knownRuns.get(item.execution_id), item));
  if (changed.length === 0) return previous;
  // If more runs have started meanwhile than fit on a page, the list would have a gap. So the list starts again with
  // the newest page.
  const hasGap = newest.next_cursor !== null && newest.items.every(({ execution_id }) => !knownRuns.has(execution_id));
  if (hasGap) return { pages: [newest], pageParams: [undefined] };
  const changedById = new Map(changed.map((item) => [item.execution_id, item]));
  const [first, ...rest] = previous.pages.map((page) => ({
    ...page,
    items: page.items.map((item) => changedById.get(item.execution_id) ?? item),
  })) as [Page, ...Page[]];
  const added = changed.filter(({ execution_id }) => !knownRuns.has(execution_id));
  return { ...previous, pages: [{ ...first, items: [...added, ...first.items] }, ...rest] };
}

function isSame(previous: Execution | undefined, after: Execution): boolean {
  return (
    previous !== undefined &&
    previous.status === after.status &&
    previous.ended_at === after.ended_at &&
    previous.restarts.length === after.restarts.length
  );
}

/**
 * Joins the runs of all pages without duplicates. Duplicates occur because a new run moves older runs to the next page.
 */
function listUniqueRuns(pages: readonly Page[]): Execution[] {
  const byId = Map.groupBy(
    pages.flatMap(({ items }) => items),
    ({ execution_id }) => execution_id,
  );
  return Array.from(byId.values(), ([first]) => first as Execution);
}

function omitUndefined<T extends Record<string, unknown>>(values: T) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: Exclude<T[Name], undefined>;
  };
}

type Range = keyof typeof texts.runs.times;

export const filterNames = ["workflow", "client", "status", "range", "error", "trigger", "label", "text"] as const;

/**
 * The filters in the address. An absent filter excludes no runs. `status` has statuses with commas between them, and
 * `label` has a label as people write it: `order=PO-10`. The browser applies `text` to loaded runs, because the server
 * cannot.
 */
export type Filters = Named<(typeof filterNames)[number]> & { range?: Range };

export const rangesMs: Record<Range, number> = {
  "1h": 3_600_000,
  "24h": 86_400_000,
  "7d": 7 * 86_400_000,
  "30d": 30 * 86_400_000,
};

export function useFilters(): [Filters, ReturnType<typeof useAddress<keyof Filters>>[1]] {
  const [values, change] = useAddress(filterNames);
  return [useMemo(() => parseFilters(values), [values]), change];
}

function parseFilters(values: Named<keyof Filters>): Filters {
  const { status: _, range: __, ...rest } = values;
  const status = statuses.filter((one) => values.status?.split(",").includes(one)).join(",");
  const range = (Object.keys(texts.runs.times) as Range[]).find((one) => one === values.range);
  return { ...rest, ...(status && { status }), ...(range && { range }) };
}
