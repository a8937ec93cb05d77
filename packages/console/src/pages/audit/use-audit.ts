import type { AuditRecord } from "@nova/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useNova } from "../../api/nova.ts";

const pageSize = 200;

export interface Audit {
  records: readonly AuditRecord[];
  isLoading: boolean;
  error: unknown;
  hasMore: boolean;
  isReadingMore: boolean;
  readMore(): void;
  retry(): void;
}

/** Who did what, newest first; older pages are read as they are wanted. */
export function useAudit(client: string | undefined): Audit {
  const nova = useNova();
  const pages = useInfiniteQuery({
    queryKey: ["audit", client],
    queryFn: ({ pageParam, signal }) => {
      const query = {
        limit: pageSize,
        ...(client !== undefined && { client }),
        ...(pageParam !== undefined && { cursor: pageParam }),
      };
      return nova.ask(nova.api.GET("/audit", { params: { query }, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
  const records = useMemo(() => (pages.data?.pages ?? []).flatMap(({ items }) => items), [pages.data]);
  return {
    records,
    isLoading: pages.isPending,
    error: pages.error,
    hasMore: pages.hasNextPage,
    isReadingMore: pages.isFetchingNextPage,
    readMore: () => void pages.fetchNextPage(),
    retry: () => void pages.refetch(),
  };
}
