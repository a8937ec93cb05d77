import type { JSX, ReactNode } from "react";
import { Button } from "./button.tsx";
import { Loading } from "./states.tsx";
import { PageFailure } from "./trouble.tsx";

interface ReadProps<Data> {
  query: { data: Data | undefined; error: unknown; isPending: boolean; refetch(): unknown };
  /** So many grey lines stand in its place until it is there. */
  lines?: number;
  children(data: Data): ReactNode;
}

/** What a query has read, or why it has not. */
export function Read<Data>({ query, lines = 8, children }: ReadProps<Data>): JSX.Element {
  if (query.isPending) return <Loading lines={lines} />;
  if (query.error) return <PageFailure error={query.error} onRetry={() => void query.refetch()} />;
  return <>{children(query.data as Data)}</>;
}

interface MoreProps {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage(): unknown };
  label: string;
}

/** Reads the next page, where there is one. */
export function More({ query, label }: MoreProps): JSX.Element | null {
  if (!query.hasNextPage) return null;
  return (
    <Button disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
      {label}
    </Button>
  );
}
