import type { Client } from "@nova/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type JSX, useState } from "react";
import { Link, useLocation } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useAddress } from "../../parts/address.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog, FormDialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { PageHead } from "../../parts/page.tsx";
import { Empty, ErrorNote, QueryView } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import "./client-page.css";

const words = texts.clients;

/** All clients. */
export function ClientsPage(): JSX.Element {
  const nova = useNova();
  const clients = useQuery({ queryKey: ["clients"], queryFn: () => Array.fromAsync(nova.clients.list()) });
  const [{ deleted }] = useAddress(["deleted"]);
  const [dialog, setDialog] = useState<"new" | "rotate">();
  const close = () => setDialog(undefined);
  return (
    <>
      <PageHead
        title={words.title}
        end={
          clients.data && (
            <Button icon="plus" tone="main" onClick={() => setDialog("new")}>
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
        <QueryView query={clients}>
          {(items) =>
            items.length === 0 ? (
              <Empty icon="people" title={words.empty} hint={words.emptyHint} />
            ) : (
              <div className="card">
                <Table items={items} columns={columns} keyOf={({ slug }) => slug} />
              </div>
            )
          }
        </QueryView>
        {clients.data && (
          <div className="rotate">
            <Button icon="lock" tone="ghost" onClick={() => setDialog("rotate")}>
              {words.rotate}
            </Button>
          </div>
        )}
      </div>
      {dialog === "new" && <NewClient onClose={close} />}
      {dialog === "rotate" && <RotateCredentials onClose={close} />}
    </>
  );
}

const unlimited = <span className="quiet">{words.unlimited}</span>;
const columns: readonly Column<Client>[] = [
  {
    label: words.columns.name,
    show: ({ slug, name }) => (
      <Link href={`/clients/${slug}`}>
        <UntrustedText text={name} />
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

export function NewClient({ onClose }: { onClose(): void }): JSX.Element {
  const nova = useNova();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const [slug, setSlug] = useState("");
  const [name, setName] = useState("");
  const create = useMutation({
    mutationFn: () => nova.clients.create({ slug: slug.trim(), name: name.trim() }),
    async onSuccess(client) {
      await queries.invalidateQueries({ queryKey: ["clients"] });
      go(`/clients/${client.slug}`);
    },
  });
  return (
    <FormDialog
      title={words.create}
      isPending={create.isPending}
      error={create.error}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextField label={words.columns.name} value={name} required maxLength={200} autoFocus onChange={setName} />
      <TextField
        label={words.columns.slug}
        hint={words.slugHint}
        value={slug}
        required
        pattern="[a-z0-9][a-z0-9\-]*"
        maxLength={63}
        onChange={setSlug}
      />
    </FormDialog>
  );
}

/** Re-encrypts all credentials, and lists those that no key decrypts. */
export function RotateCredentials({ onClose }: { onClose(): void }): JSX.Element {
  const nova = useNova();
  const rotate = useMutation({ mutationFn: () => nova.credentials.rotate() });
  const { data } = rotate;
  return (
    <Dialog
      title={data ? words.rotate : words.confirmRotate}
      onClose={onClose}
      actions={
        data ? (
          <Button tone="main" onClick={onClose}>
            {texts.common.close}
          </Button>
        ) : (
          <>
            <Button onClick={onClose}>{texts.common.cancel}</Button>
            <Button tone="main" disabled={rotate.isPending} onClick={() => rotate.mutate()}>
              {words.rotate}
            </Button>
          </>
        )
      }
    >
      <div className="form" role="status">
        {data ? <p>{words.rotated(data.sealed)}</p> : <p className="quiet">{words.rotateHint}</p>}
        {data && data.locked.length > 0 && (
          <>
            <p>{words.locked}</p>
            <ul className="mono">
              {data.locked.map((name) => (
                <li key={name}>{name}</li>
              ))}
            </ul>
          </>
        )}
        <ErrorNote error={rotate.error} />
      </div>
    </Dialog>
  );
}
