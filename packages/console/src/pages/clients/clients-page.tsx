import type { Client } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { type JSX, useState } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useAddress } from "../../parts/address.ts";
import { Button } from "../../parts/button.tsx";
import { Foreign } from "../../parts/foreign.tsx";
import { Empty, Loading } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { PageFailure } from "../../parts/trouble.tsx";
import { texts } from "../../texts.ts";
import { NewClient } from "./new-client.tsx";
import { RotateCredentials } from "./rotate.tsx";
import "../../parts/sheet.css";
import "./section.css";

const words = texts.clients;

/** Whom runs are for. */
export function ClientsPage(): JSX.Element {
  const nova = useNova();
  const clients = useQuery({ queryKey: ["clients"], queryFn: () => Array.fromAsync(nova.clients.list()) });
  const [{ deleted }] = useAddress(["deleted"]);
  const [asked, setAsked] = useState<"new" | "rotate">();
  const close = () => setAsked(undefined);
  return (
    <>
      <header className="page-head">
        <h1>{words.title}</h1>
        {clients.data && (
          <span className="page-head-end">
            <Button icon="plus" tone="main" onClick={() => setAsked("new")}>
              {words.create}
            </Button>
          </span>
        )}
      </header>
      <div className="page-body">
        {deleted !== undefined && (
          <p className="note" role="status">
            {words.danger.deleting(deleted)}
          </p>
        )}
        {clients.isPending ? (
          <Loading />
        ) : clients.error ? (
          <PageFailure error={clients.error} onRetry={() => void clients.refetch()} />
        ) : clients.data.length === 0 ? (
          <Empty icon="people" title={words.empty} hint={words.emptyHint} />
        ) : (
          <ClientTable clients={clients.data} />
        )}
        {clients.data && (
          <div className="rotate">
            <Button icon="lock" tone="ghost" onClick={() => setAsked("rotate")}>
              {words.rotate}
            </Button>
          </div>
        )}
      </div>
      {asked === "new" && <NewClient onClose={close} />}
      {asked === "rotate" && <RotateCredentials onClose={close} />}
    </>
  );
}

function ClientTable({ clients }: { clients: readonly Client[] }): JSX.Element {
  const { columns } = words;
  return (
    <div className="card sheet-box">
      <table className="sheet">
        <thead>
          <tr>
            <th scope="col">{columns.name}</th>
            <th scope="col">{columns.slug}</th>
            <th scope="col" className="number wide">
              {columns.concurrent}
            </th>
            <th scope="col" className="number wide">
              {columns.cost}
            </th>
            <th scope="col" className="number wide">
              {columns.retention}
            </th>
            <th scope="col" className="wide">
              {columns.created}
            </th>
          </tr>
        </thead>
        <tbody>
          {clients.map(({ slug, name, quotas: { max_concurrent, max_cost_usd, retention_days }, created_at }) => (
            <tr key={slug}>
              <td>
                <Link href={`/clients/${slug}`}>
                  <Foreign text={name} />
                </Link>
              </td>
              <td className="mono quiet">{slug}</td>
              <td className="number wide">{max_concurrent ?? <Unlimited />}</td>
              <td className="number wide">{max_cost_usd == null ? <Unlimited /> : `$${max_cost_usd}`}</td>
              <td className="number wide">{retention_days == null ? <Unlimited /> : words.days(retention_days)}</td>
              <td className="wide fixed quiet">
                <Time at={created_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Unlimited(): JSX.Element {
  return <span className="quiet">{words.unlimited}</span>;
}
