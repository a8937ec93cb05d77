import type { JSX, ReactNode } from "react";
import { Button } from "./button.tsx";
import { Loading } from "./states.tsx";
import { PageFailure, Trouble } from "./trouble.tsx";

interface ReadProps<Data> {
  query: { data: Data | undefined; error: unknown; isPending: boolean; refetch(): unknown };
  /** So many grey lines stand in its place until it is there. */
  lines?: number;
  children(data: Data): ReactNode;
}

/**
 * What a query has read, or why it has not. What was read stays where reading it again fails, with what is typed in it.
 */
export function Read<Data>({ query, lines = 8, children }: ReadProps<Data>): JSX.Element {
  if (query.data === undefined && query.isPending) return <Loading lines={lines} />;
  if (query.data === undefined) return <PageFailure error={query.error} onRetry={() => void query.refetch()} />;
  return (
    <>
      <Trouble error={query.error} />
      {children(query.data)}
    </>
  );
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
