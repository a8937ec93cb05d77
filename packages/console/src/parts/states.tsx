import { ApiProblem, ApiUnreachable } from "@nova/client";
import { type ComponentType, type JSX, type ReactNode, useEffect, useState } from "react";
import { Link } from "wouter";
import { texts } from "../texts.ts";
import { Button } from "./button.tsx";
import { Icon, type IconName } from "./icon.tsx";
import { UntrustedText } from "./untrusted-text.tsx";

interface EmptyProps {
  icon: IconName;
  title: string;
  hint: ReactNode;
  /** Whether this message is the only content of the page. */
  isPage?: boolean;
  /** Whether the content is missing because of an error. */
  isError?: boolean;
  children?: ReactNode;
}

/** Replaces missing content and suggests a next step. */
export function Empty({ icon, title, hint, isPage, isError, children }: EmptyProps): JSX.Element {
  const Title = isPage ? "h1" : "h2";
  return (
    <div className="state stack" role={isError ? "alert" : undefined}>
      <span className={`disc ${isError ? "tone-bad" : "tone-idle"}`}>
        <Icon name={icon} size={20} />
      </span>
      <Title>{title}</Title>
      <p className="quiet">{hint}</p>
      {children}
    </div>
  );
}

export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }): JSX.Element {
  const title = error instanceof ApiProblem ? error.title : texts.common.failed;
  return (
    <Empty icon="cross" title={title} hint={<UntrustedText text={describeError(error)} />} isError>
      {onRetry && (
        <Button icon="restart" onClick={onRetry}>
          {texts.common.retry}
        </Button>
      )}
    </Empty>
  );
}

/** Returns the sentence about an error that the user reads. Sentences from the API say what the user can do. */
export function describeError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Grey lines while content loads. */
export function Loading({ lines = 8 }: { lines?: number }): JSX.Element {
  return (
    <div className="skeleton" role="status" aria-label={texts.common.loading}>
      {Array.from({ length: lines }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all the same
        <span key={index} style={{ width: `${88 - ((index * 23) % 46)}%` }} />
      ))}
    </div>
  );
}

/** The error of a form or a dialog. */
export function ErrorNote({ error }: { error: unknown }): JSX.Element | null {
  if (error === null || error === undefined) return null;
  return (
    <p className="notice tone-bad" role="alert">
      <UntrustedText text={describeError(error)} />
    </p>
  );
}

/** The error of a page. A missing permission is no failure of the page. */
function PageFailure({ error, onRetry }: { error: unknown; onRetry(): void }): JSX.Element {
  if (!hasStatus(error, 403)) return <Failure error={error} onRetry={onRetry} />;
  return <Empty icon="shield" title={texts.common.notAllowed} hint={describeError(error)} />;
}

/** Returns whether the server refused a change because another user has changed the same thing. */
export function isConflict(error: unknown): boolean {
  return hasStatus(error, 409);
}

function hasStatus(error: unknown, status: number): boolean {
  return error instanceof ApiProblem && error.status === status;
}

interface Query<Data> {
  data: Data | undefined;
  error: unknown;
  isPending: boolean;
  refetch(): unknown;
}

interface QueryViewProps<Data> {
  query: Query<Data>;
  /** Number of grey lines while the data loads. */
  lines?: number | undefined;
  /** Texts of the page for an object that does not exist. `to` is the list to which the page links. */
  missing?: { words: { missing: string; missingHint: string; back: string }; to: string };
  children(data: Data): ReactNode;
}

/**
 * Shows the data of a query, or the reason why the data is missing. If a later refresh fails, the data and the user's
 * input stay visible. The frame of the page reports that the server does not answer.
 */
export function QueryView<Data>({ query, lines = 8, missing, children }: QueryViewProps<Data>): JSX.Element {
  if (missing && hasStatus(query.error, 404)) {
    const { words, to } = missing;
    return (
      <Empty icon="search" title={words.missing} hint={words.missingHint} isPage>
        <Link href={to} className="button">
          {words.back}
        </Link>
      </Empty>
    );
  }
  if (query.data === undefined && query.isPending) return <Loading lines={lines} />;
  if (query.data === undefined) return <PageFailure error={query.error} onRetry={() => void query.refetch()} />;
  return (
    <>
      {!(query.error instanceof ApiUnreachable) && <ErrorNote error={query.error} />}
      {children(query.data)}
    </>
  );
}

interface ListViewProps<Item> {
  query: Query<readonly Item[]>;
  /** The items that match the filters; default: all. */
  items?: readonly Item[];
  lines?: number;
  /** The icon of an empty list. */
  icon: IconName;
  words: { empty: string; emptyHint: string; none?: string; noneHint?: string };
  /** Content below the sentence of an empty list. */
  emptyContent?: ReactNode;
  /** Content below the sentence that no item matches the filters; absent if there are no filters. */
  noneContent?: ReactNode;
  children(items: readonly Item[]): ReactNode;
}

/** Shows a list, or the reason why the list is empty. */
export function ListView<Item>(props: ListViewProps<Item>): JSX.Element {
  const { query, items = query.data ?? [], lines, icon, words, emptyContent, noneContent, children } = props;
  const show = () => {
    if (items.length > 0) return children(items);
    const { empty, emptyHint, none = empty, noneHint = emptyHint } = words;
    return noneContent ? (
      <Empty icon="search" title={none} hint={noneHint}>
        {noneContent}
      </Empty>
    ) : (
      <Empty icon={icon} title={empty} hint={emptyHint}>
        {emptyContent}
      </Empty>
    );
  };
  return (
    <QueryView query={query} lines={lines}>
      {show}
    </QueryView>
  );
}

/** A query that reads a list page by page. */
export interface PagedQuery {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage(): unknown;
}

/** A button that loads the next page, if there is one. */
export function LoadMore({ query, label }: { query: PagedQuery; label: string }): JSX.Element | null {
  if (!query.hasNextPage) return null;
  return (
    <Button disabled={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
      {label}
    </Button>
  );
}

/**
 * Loads the code of a component on first use. React's `lazy` would show the placeholder for at least 300 ms; this
 * component replaces it immediately.
 */
export function lazyComponent<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let known: ComponentType<Props> | undefined;
  return function Later(props: Props): JSX.Element {
    const [Part, setPart] = useState<ComponentType<Props> | undefined>(() => known);
    const [failure, setFailure] = useState<unknown>();
    useEffect(() => {
      if (known) return;
      load().then((found) => {
        known = found;
        setPart(() => found);
      }, setFailure);
    }, []);
    if (failure !== undefined) throw failure;
    return Part ? <Part {...props} /> : <Loading />;
  };
}
