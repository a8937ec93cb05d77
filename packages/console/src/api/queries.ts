import { ApiProblem, type ItemOf, type ListParameters, type ListPath } from "@nova/client";
import {
  type keepPreviousData,
  type QueryKey,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { texts } from "../texts.ts";
import { useIsByLink, useNova } from "./nova.ts";

/** A value with the entity tag of the answer that contained it. */
interface Tagged<T> {
  value: T;
  tag: string | null;
}

interface TaggedAnswer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

interface Polled<T> {
  queryKey: QueryKey;
  /** Reads the value. `header` contains the entity tag of the previous answer, if there is one. */
  read(header: { "If-None-Match"?: string }, signal: AbortSignal): Promise<TaggedAnswer<T>>;
  /** Whether the value can no longer change, so polling stops. */
  isOver(value: T): boolean;
  enabled?: boolean;
}

const firstPauseMs = 400;
const longestPauseMs = 8_000;
const growth = 1.5;

/**
 * Milliseconds between two polls, by query. A pause grows while the value stays the same, and becomes short again when
 * the value changes.
 */
const pauses = new Map<string, number>();

/**
 * Polls a value until `isOver` returns true. For an unchanged value the server answers 304, and React does not render
 * the value again.
 */
export function usePolled<T>({ queryKey, read, isOver, enabled = true }: Polled<T>): UseQueryResult<T> {
  const queries = useQueryClient();
  const hash = JSON.stringify(queryKey);
  return useQuery({
    queryKey,
    enabled,
    // Values are compared by reference: a deep comparison of a trace of megabytes would block the page.
    structuralSharing: false,
    async queryFn({ signal }) {
      const previous = queries.getQueryData<Tagged<T>>(queryKey);
      const { data, error, response } = await read(previous?.tag ? { "If-None-Match": previous.tag } : {}, signal);
      const isUnchanged = response.status === 304 && previous !== undefined;
      const longerPauseMs = Math.min(longestPauseMs, (pauses.get(hash) ?? firstPauseMs) * growth);
      pauses.set(hash, isUnchanged ? longerPauseMs : firstPauseMs);
      if (isUnchanged) return previous;
      if (!response.ok) throw new ApiProblem(response.status, error);
      return { value: data as T, tag: response.headers.get("etag") };
    },
    refetchInterval({ state: { data, error } }) {
      if (data) return isOver(data.value) ? false : (pauses.get(hash) ?? firstPauseMs);
      // A status below 500 ends the polling, because the server would refuse the same request again.
      if (error) return error instanceof ApiProblem && error.status < 500 ? false : longestPauseMs;
      return firstPauseMs;
    },
    staleTime: firstPauseMs,
    select: ({ value }: Tagged<T>) => value,
  });
}

interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}

type Loose<T> = { [Name in keyof T]?: T[Name] | undefined };

/** The parameters of a list route. The page does not send parameters that are undefined. */
type ListRequest<Path extends ListPath> = {
  [Part in keyof ListParameters<Path>]?: Loose<ListParameters<Path>[Part]>;
};

interface ListOptions {
  refetchInterval?: number;
  staleTime?: number;
  enabled?: boolean;
  placeholderData?: typeof keepPreviousData;
}

/** Reads all items of a list route. The route is also the key of the query, so `useReload` can find the query by it. */
export function useList<Path extends ListPath>(
  path: Path,
  request: ListRequest<Path> = {},
  options: ListOptions = {},
): UseQueryResult<ItemOf<Path>[]> {
  const nova = useNova();
  return useQuery({
    ...options,
    queryKey: [path, request],
    queryFn: () => Array.fromAsync(nova.list(path, request as ListParameters<Path>)),
  });
}

/** Reads a list route page by page; `data` contains the items of all pages. */
export function usePages<Path extends ListPath>(
  path: Path,
  request: ListRequest<Path>,
  options: { refetchInterval?: number } = {},
) {
  const { api, ask } = useNova();
  return useInfiniteQuery({
    ...options,
    queryKey: [path, request, "pages"],
    queryFn({ pageParam: cursor, signal }) {
      const params = { ...request, query: { ...(request as { query?: object }).query, cursor } };
      return ask(api.GET(path, { params, signal } as never) as Promise<TaggedAnswer<Page<ItemOf<Path>>>>);
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
  });
}

interface Counted {
  data?: readonly unknown[] | undefined;
  hasNextPage?: boolean;
}

/** Describes the number of items that are shown. A `+` after the number means that more pages exist. */
export function describeCount({ data, hasNextPage }: Counted, count: number, describe: (count: number) => string) {
  return data && `${describe(count)}${hasNextPage ? "+" : ""}`;
}

/** Returns a function that repeats all queries whose keys start with one of the given keys. */
export function useReload(): (...keys: QueryKey[]) => Promise<unknown> {
  const queries = useQueryClient();
  return (...keys) => Promise.all(keys.map((queryKey) => queries.invalidateQueries({ queryKey })));
}

const staleTime = 60_000;

/** Returns the id and the name of each workflow; empty while they load. */
export function useWorkflowChoices(): readonly [id: string, name: string][] {
  const { data } = useList("/workflows", {}, { staleTime });
  return useMemo(() => (data ?? []).map(({ id, name }) => [id, name]), [data]);
}

/** Returns a function from the id of a workflow to its name. The draft of a session has the name of the session. */
export function useWorkflowName(): (id: string) => string {
  // A user of a mailed link may read one task, but no list.
  const enabled = !useIsByLink();
  const workflows = useList("/workflows", {}, { staleTime, enabled });
  const sessions = useList("/sessions", {}, { staleTime, enabled });
  const names = useMemo(
    () =>
      new Map([
        ...(sessions.data ?? []).map((one) => [draftIdOf(one), texts.workflows.draftOf(one.name)] as const),
        ...(workflows.data ?? []).map(({ id, name }) => [id, name] as const),
      ]),
    [workflows.data, sessions.data],
  );
  return useCallback((id) => names.get(id) ?? (isDraft(id) ? texts.workflows.draft : id), [names]);
}

/** Returns the id under which the API publishes the draft of a session for its runs. */
function draftIdOf({ session_id: id }: { session_id: string }): string {
  return id.replace(/^ses_/, "draft-").toLowerCase();
}

function isDraft(id: string): boolean {
  return /^draft-[0-9a-z]{26}$/.test(id);
}

/** Returns the slugs of all clients that the key may see. */
export function useClientSlugs(): readonly string[] {
  const { data } = useList("/clients", {}, { staleTime });
  return useMemo(() => (data ?? []).map(({ slug }) => slug), [data]);
}

const none: readonly string[] = [];

/** Returns the ids of the triggers that recently started runs. */
export function useTriggerIds(): readonly string[] {
  const nova = useNova();
  const { data } = useQuery({
    queryKey: ["triggers", "ids"],
    staleTime,
    async queryFn() {
      const params = { query: { status: "started" as const, limit: 200 } };
      const { items } = await nova.ask(nova.api.GET("/deliveries", { params }));
      return [...new Set(items.flatMap(({ trigger }) => trigger ?? []))];
    },
  });
  return data ?? none;
}
