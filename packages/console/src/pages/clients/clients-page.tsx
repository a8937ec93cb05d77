import type { Client } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { type JSX, useState } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useAddress } from "../../parts/address.ts";
import { Button } from "../../parts/button.tsx";
import { Foreign } from "../../parts/foreign.tsx";
import { PageHead } from "../../parts/page-head.tsx";
import { Read } from "../../parts/read.tsx";
import { Empty } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";
import { NewClient } from "./new-client.tsx";
import { RotateCredentials } from "./rotate.tsx";
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
      <PageHead
        title={words.title}
        end={
          clients.data && (
            <Button icon="plus" tone="main" onClick={() => setAsked("new")}>
              {words.create}
            </Button>
          )
        }
      />
      <div className="page-body">
        {deleted !== undefined && (
          <p className="note" role="status">
            {words.danger.deleting(deleted)}
          </p>
        )}
        <Read query={clients}>
          {(known) =>
            known.length === 0 ? (
              <Empty icon="people" title={words.empty} hint={words.emptyHint} />
            ) : (
              <div className="card">
                <Table items={known} columns={columns} keyOf={({ slug }) => slug} />
              </div>
            )
          }
        </Read>
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

const unlimited = <span className="quiet">{words.unlimited}</span>;
const columns: readonly Column<Client>[] = [
  {
    label: words.columns.name,
    show: ({ slug, name }) => (
      <Link href={`/clients/${slug}`}>
        <Foreign text={name} />
      </Link>
    ),
  },
  { label: words.columns.slug, show: ({ slug }) => slug, look: "mono quiet" },
  {
    label: words.columns.concurrent,
    show: ({ quotas: { max_concurrent } }) => max_concurrent ?? unlimited,
    look: "number wide",
  },
  {
    label: words.columns.cost,
    show: ({ quotas: { max_cost_usd } }) => (max_cost_usd == null ? unlimited : `$${max_cost_usd}`),
    look: "number wide",
  },
  {
    label: words.columns.retention,
    show: ({ quotas: { retention_days } }) => (retention_days == null ? unlimited : words.days(retention_days)),
    look: "number wide",
  },
  { label: words.columns.created, show: ({ created_at }) => <Time at={created_at} />, look: "wide fixed quiet" },
];
