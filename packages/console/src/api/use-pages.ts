import { useInfiniteQuery } from "@tanstack/react-query";

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
