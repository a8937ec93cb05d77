import { ApiProblem } from "@nova/client";
import { type QueryKey, type UseQueryResult, useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNova } from "./nova.ts";

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
  /** Reads the value; `header` contains the tag of the previous answer. */
  read(header: { "If-None-Match"?: string }, signal: AbortSignal): Promise<TaggedAnswer<T>>;
  /** Whether the value can no longer change, so polling stops. */
  isOver(value: T): boolean;
  enabled?: boolean;
}

const firstPauseMs = 400;
const longestPauseMs = 8_000;
const growth = 1.5;

/** Milliseconds between two polls, by query. A pause grows while nothing changes, and resets on a change. */
const pauses = new Map<string, number>();

/** Polls a value until `isOver`. The server answers 304 for an unchanged value, and React does not render it again. */
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
      pauses.set(
        hash,
        isUnchanged ? Math.min(longestPauseMs, (pauses.get(hash) ?? firstPauseMs) * growth) : firstPauseMs,
      );
      if (isUnchanged) return previous;
      if (!response.ok) throw new ApiProblem(response.status, error);
      return { value: data as T, tag: response.headers.get("etag") };
    },
    refetchInterval({ state: { data, error } }) {
      if (data) return isOver(data.value) ? false : (pauses.get(hash) ?? firstPauseMs);
      // The server would refuse the same request again, so polling stops after an error of the client.
      if (error) return error instanceof ApiProblem && error.status < 500 ? false : longestPauseMs;
      return firstPauseMs;
    },
    staleTime: firstPauseMs,
    select: readValue<T>,
  });
}

function readValue<T>({ value }: Tagged<T>): T {
  return value;
}

interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}

interface Pages<Item> {
  queryKey: readonly unknown[];
  /** Reads one page; `cursor` is empty for the first page. */
  read(cursor: { cursor?: string }, signal: AbortSignal): Promise<Page<Item>>;
  refetchInterval?: number;
}

/** Reads a list page by page; `data` contains the items of all pages. */
export function usePages<Item>({ read, ...options }: Pages<Item>) {
  return useInfiniteQuery({
    ...options,
    queryFn: ({ pageParam, signal }) => read(pageParam === undefined ? {} : { cursor: pageParam }, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }: Page<Item>) => next_cursor ?? undefined,
    select: ({ pages }) => pages.flatMap(({ items }) => items),
  });
}

const staleMs = 60_000;
const none: readonly string[] = [];

/** Returns the ids of all workflows for filters; empty while they load. */
export function useWorkflowIds(): readonly string[] {
  const nova = useNova();
  const { data } = useQuery({
    queryKey: ["workflows", "ids"],
    staleTime: staleMs,
    queryFn: async () => (await Array.fromAsync(nova.workflows.list())).map(({ id }) => id),
  });
  return data ?? none;
}

/** Returns the slugs of all clients that the key may see. */
export function useClientSlugs(): readonly string[] {
  const nova = useNova();
  const { data } = useQuery({
    queryKey: ["clients", "slugs"],
    staleTime: staleMs,
    queryFn: async () => (await Array.fromAsync(nova.clients.list())).map(({ slug }) => slug),
  });
  return data ?? none;
}

/** Returns the triggers that recently started runs. */
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
