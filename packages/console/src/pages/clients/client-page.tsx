import { useQuery } from "@tanstack/react-query";
import type { JSX } from "react";
import { useParams } from "wouter";
import { useNova } from "../../api/nova.ts";
import { Foreign } from "../../parts/foreign.tsx";
import { Missing, PageHead } from "../../parts/page-head.tsx";
import { Read } from "../../parts/read.tsx";
import { Time } from "../../parts/time.tsx";
import { isMissing } from "../../parts/trouble.tsx";
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
  if (isMissing(error)) return <Missing words={words} to="/clients" />;
  return (
    <>
      <PageHead
        title={data ? <Foreign text={data.name} /> : words.one(slug)}
        back={{ to: "/clients", label: words.back }}
        end={
          data && (
            <span className="quiet">
              {words.columns.created} <Time at={data.created_at} />
            </span>
          )
        }
      >
        <span className="mono quiet">{slug}</span>
      </PageHead>
      <div className="page-body">
        <Read query={client}>
          {(known) => (
            <div key={slug} className="page-column">
              <Credentials owner={{ client: slug }} />
              <div className="client-parts">
                <Settings client={known} />
                <Variables client={known} />
                <Quotas client={known} />
                <Pins client={known} />
              </div>
              <Danger client={known} />
            </div>
          )}
        </Read>
      </div>
    </>
  );
}
