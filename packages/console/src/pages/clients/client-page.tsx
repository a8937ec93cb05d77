import { ApiProblem } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import type { JSX } from "react";
import { Link, useParams } from "wouter";
import { useNova } from "../../api/nova.ts";
import { Foreign } from "../../parts/foreign.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Empty, Loading } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { PageFailure } from "../../parts/trouble.tsx";
import { texts } from "../../texts.ts";
import { Credentials } from "./credentials/credentials.tsx";
import { Danger } from "./danger.tsx";
import { Pins, Quotas, Settings, Variables } from "./parts.tsx";

const words = texts.clients;

/** One client: what it is called, what it may, and what its runs begin with. */
export function ClientPage(): JSX.Element {
  const { slug = "" } = useParams<{ slug: string }>();
  const nova = useNova();
  const client = useQuery({ queryKey: ["client", slug], queryFn: () => nova.clients.get(slug) });
  const { data, error } = client;
  if (error instanceof ApiProblem && error.status === 404) {
    return (
      <Empty icon="search" title={words.missing} hint={words.missingHint}>
        <Link href="/clients" className="button">
          {words.back}
        </Link>
      </Empty>
    );
  }
  return (
    <>
      <header className="page-head">
        <Link href="/clients" className="icon-button" aria-label={words.back} title={words.back}>
          <Icon name="back" />
        </Link>
        <h1>{data ? <Foreign text={data.name} /> : words.one(slug)}</h1>
        <span className="mono quiet">{slug}</span>
        {data && (
          <span className="page-head-end quiet">
            {words.columns.created} <Time at={data.created_at} />
          </span>
        )}
      </header>
      <div className="page-body">
        {client.isPending ? (
          <Loading />
        ) : error ? (
          <PageFailure error={error} onRetry={() => void client.refetch()} />
        ) : (
          data && (
            <div key={slug} className="page-column">
              <Credentials owner={{ client: slug }} />
              <div className="client-parts">
                <Settings client={data} />
                <Variables client={data} />
                <Quotas client={data} />
                <Pins client={data} />
              </div>
              <Danger client={data} />
            </div>
          )
        )}
      </div>
    </>
  );
}
