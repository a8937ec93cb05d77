import { ApiProblem } from "@nova/client";
import { type QueryKey, type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query";

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
