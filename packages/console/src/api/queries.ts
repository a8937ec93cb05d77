import { ApiProblem } from "@nova/client";
import { type QueryKey, type UseQueryResult, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNova } from "./nova.ts";

/** What was read, and the tag by which the server knows it. */
interface Tagged<T> {
  value: T;
  tag: string | null;
}

interface Answered<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

interface Polled<T> {
  queryKey: QueryKey;
  /** Sends the tag of the answer before. */
  read(header: { "If-None-Match"?: string }, signal: AbortSignal): Promise<Answered<T>>;
  /** Nothing changes any more. */
  isOver(value: T): boolean;
  enabled?: boolean;
}

const firstPauseMs = 400;
const longestPauseMs = 8_000;
const growth = 1.5;

/** Pauses by query: they grow while nothing changes, and begin anew with a change. */
const pauses = new Map<string, number>();

/** Follows what changes. An answer that is known is not sent again, and nothing is drawn again for it. */
export function usePolled<T>({ queryKey, read, isOver, enabled = true }: Polled<T>): UseQueryResult<T> {
  const queries = useQueryClient();
  const hash = JSON.stringify(queryKey);
  return useQuery({
    queryKey,
    enabled,
    // Compared by reference: a trace of megabytes is not walked to find that it is the same.
    structuralSharing: false,
    async queryFn({ signal }) {
      const known = queries.getQueryData<Tagged<T>>(queryKey);
      const { data, error, response } = await read(known?.tag ? { "If-None-Match": known.tag } : {}, signal);
      const isKnown = response.status === 304 && known !== undefined;
      pauses.set(hash, isKnown ? Math.min(longestPauseMs, (pauses.get(hash) ?? firstPauseMs) * growth) : firstPauseMs);
      if (isKnown) return known;
      if (!response.ok) throw new ApiProblem(response.status, error);
      return { value: data as T, tag: response.headers.get("etag") };
    },
    refetchInterval({ state: { data, error } }) {
      if (data) return isOver(data.value) ? false : (pauses.get(hash) ?? firstPauseMs);
      // What is refused will be refused again.
      if (error) return error instanceof ApiProblem && error.status < 500 ? false : longestPauseMs;
      return firstPauseMs;
    },
    staleTime: firstPauseMs,
    select: untagged<T>,
  });
}

function untagged<T>({ value }: Tagged<T>): T {
  return value;
}

interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}

interface Pages<Item> {
  queryKey: readonly unknown[];
  /** `cursor` goes into the query; the first page has none. */
  read(cursor: { cursor?: string }, signal: AbortSignal): Promise<Page<Item>>;
  refetchInterval?: number;
}

/** A list that is read page by page; `data` has the items of all pages. */
export function usePages<Item>({ read, ...more }: Pages<Item>) {
  return useInfiniteQuery({
    ...more,
    queryFn: ({ pageParam, signal }) => read(pageParam === undefined ? {} : { cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }: Page<Item>) => next_cursor ?? undefined,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
  });
}

const staleMs = 60_000;
const none: readonly string[] = [];

/** Ids of all workflows, for what can be chosen from them; none while they are not known. */
export function useWorkflowIds(): readonly string[] {
  const nova = useNova();
  const { data } = useQuery({
    queryKey: ["workflows", "ids"],
    staleTime: staleMs,
    queryFn: async () => (await Array.fromAsync(nova.workflows.list())).map(({ id }) => id),
  });
  return data ?? none;
}

/** Slugs of all clients that the key reaches. */
export function useClientSlugs(): readonly string[] {
  const nova = useNova();
  const { data } = useQuery({
    queryKey: ["clients", "slugs"],
    staleTime: staleMs,
    queryFn: async () => (await Array.fromAsync(nova.clients.list())).map(({ slug }) => slug),
  });
  return data ?? none;
}

/** Triggers for which something has come in lately. */
export function useTriggerIds(): readonly string[] {
  const nova = useNova();
  const { data } = useQuery({
    queryKey: ["triggers", "ids"],
    staleTime: staleMs,
    async queryFn() {
      const params = { query: { status: "started" as const, limit: 200 } };
      const { items } = await nova.ask(nova.api.GET("/deliveries", { params }));
      return [...new Set(items.flatMap(({ trigger }) => trigger ?? []))];
    },
  });
  return data ?? none;
}
