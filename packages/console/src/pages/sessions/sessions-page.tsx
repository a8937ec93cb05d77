import type { Schemas } from "@nova/client";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { type JSX, useState } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useClientSlugs } from "../../api/use-lists.ts";
import { useAddress } from "../../parts/address.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { Choice } from "../../parts/choice.tsx";
import { Foreign } from "../../parts/foreign.tsx";
import { Empty, Loading } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { PageFailure } from "../../parts/trouble.tsx";
import { texts } from "../../texts.ts";
import { countStates } from "../session/draft.ts";
import { RemoveSession } from "../session/remove-session.tsx";
import { NewSession } from "./new-session.tsx";
import "../../parts/filter-bar.css";
import "../../parts/sheet.css";

const words = texts.sessions;
/** How each stands is asked for one by one. */
const pageSize = 25;

type Item = Schemas["SessionItem"];

/** Drafts that somebody works on, newest first. */
export function SessionsPage(): JSX.Element {
  const [{ client }, change] = useAddress(["client"]);
  const sessions = useSessions(client);
  const clients = useClientSlugs();
  const [asked, setAsked] = useState<"new" | Item>();
  const items = sessions.data?.pages.flatMap((page) => page.items) ?? [];
  const close = () => setAsked(undefined);
  return (
    <>
      <header className="page-head">
        <h1>{words.title}</h1>
        {sessions.data && (
          <span className="quiet">{`${words.count(items.length)}${sessions.hasNextPage ? "+" : ""}`}</span>
        )}
        <span className="page-head-end">
          <Button icon="plus" tone="main" onClick={() => setAsked("new")}>
            {words.create}
          </Button>
        </span>
      </header>
      {clients.length > 1 && (
        <div className="filter-bar" role="search">
          <Choice
            label={words.columns.client}
            value={client}
            values={clients.map((one) => [one, one] as const)}
            onChange={(one) => change({ client: one })}
          />
        </div>
      )}
      <div className="page-body">
        {sessions.isPending ? (
          <Loading />
        ) : sessions.error ? (
          <PageFailure error={sessions.error} onRetry={() => void sessions.refetch()} />
        ) : items.length === 0 ? (
          <Empty icon="change" title={words.empty} hint={words.emptyHint} />
        ) : (
          <SessionTable items={items} onRemove={setAsked} />
        )}
        {sessions.hasNextPage && (
          <Button disabled={sessions.isFetchingNextPage} onClick={() => void sessions.fetchNextPage()}>
            {words.more}
          </Button>
        )}
      </div>
      {asked === "new" && <NewSession onClose={close} />}
      {typeof asked === "object" && <RemoveSession session={asked} onClose={close} />}
    </>
  );
}

function useSessions(client: string | undefined) {
  const nova = useNova();
  return useInfiniteQuery({
    queryKey: ["sessions", client ?? null],
    queryFn: ({ pageParam, signal }) => {
      const query = {
        limit: pageSize,
        ...(client !== undefined && { client }),
        ...(pageParam !== undefined && { cursor: pageParam }),
      };
      return nova.ask(nova.api.GET("/sessions", { params: { query }, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  });
}

function SessionTable({ items, onRemove }: { items: readonly Item[]; onRemove(item: Item): void }): JSX.Element {
  const { columns } = words;
  return (
    <div className="card sheet-box">
      <table className="sheet">
        <thead>
          <tr>
            <th scope="col">{columns.name}</th>
            <th scope="col" className="wide">
              {columns.client}
            </th>
            <th scope="col" className="wide">
              {columns.workflow}
            </th>
            <th scope="col">{columns.nodes}</th>
            <th scope="col" className="wide">
              {columns.until}
            </th>
            <th scope="col" className="sheet-end">
              <span className="hidden-label">{columns.actions}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <Row key={item.session_id} item={item} onRemove={() => onRemove(item)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ item, onRemove }: { item: Item; onRemove(): void }): JSX.Element {
  const { session_id: id, name, client_slug, expires_at } = item;
  const nova = useNova();
  const { data, error } = useQuery({ queryKey: ["session", id], queryFn: () => nova.sessions.get(id) });
  const { stale, fresh } = countStates(data?.nodes ?? []);
  return (
    <tr>
      <td>
        <Link href={`/sessions/${id}`}>
          <Foreign text={name} />
        </Link>
      </td>
      <td className="wide mono quiet">{client_slug}</td>
      <td className="wide">{data && (data.workflow ?? <span className="quiet">{words.ownDraft}</span>)}</td>
      <td>{data ? words.counts(stale, fresh) : <span className="quiet">{error ? words.nodesLost : "…"}</span>}</td>
      <td className="wide fixed quiet">
        <Time at={expires_at} />
      </td>
      <td className="sheet-end">
        <IconButton icon="bin" label={words.removeOne(name)} onClick={onRemove} />
      </td>
    </tr>
  );
}
