import type { Client } from "@nova/client";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useList, useReload } from "../../api/queries.ts";
import { useAddress } from "../../parts/address.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog, DialogButton, FormDialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { PageHead } from "../../parts/page.tsx";
import { ListView } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import "./client-page.css";

const words = texts.clients;

/** All clients. */
export function ClientsPage() {
  const clients = useList("/clients");
  const [{ deleted }] = useAddress(["deleted"]);
  const create = (
    <DialogButton icon="plus" tone="main" label={words.create} dialog={(close) => <NewClient onClose={close} />} />
  );
  return (
    <>
      <PageHead title={words.title} end={clients.data && create} />
      <div className="page-body">
        {deleted !== undefined && (
          <p className="note" role="status">
            {words.danger.deleting(deleted)}
          </p>
        )}
        <ListView query={clients} icon="people" words={words}>
          {(items) => (
            <div className="card">
              <Table items={items} columns={columns} keyOf={({ slug }) => slug} />
            </div>
          )}
        </ListView>
        {clients.data && (
          <div className="rotate">
            <DialogButton
              icon="lock"
              tone="ghost"
              label={words.rotate}
              dialog={(close) => <RotateCredentials onClose={close} />}
            />
          </div>
        )}
      </div>
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

function NewClient({ onClose }: { onClose(): void }) {
  const nova = useNova();
  const reload = useReload();
  const [, go] = useLocation();
  const [slug, setSlug] = useState("");
  const [name, setName] = useState("");
  const create = async () => {
    const client = await nova.clients.create({ slug: slug.trim(), name: name.trim() });
    await reload(["/clients"]);
    go(`/clients/${client.slug}`);
  };
  return (
    <FormDialog title={words.create} onSubmit={create} onClose={onClose}>
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
function RotateCredentials({ onClose }: { onClose(): void }) {
  const nova = useNova();
  const [result, setResult] = useState<{ sealed: number; locked: readonly string[] }>();
  const rotate = () => nova.credentials.rotate().then(setResult);
  if (!result) {
    return (
      <FormDialog title={words.confirmRotate} action={words.rotate} staysOpen onSubmit={rotate} onClose={onClose}>
        <p className="quiet">{words.rotateHint}</p>
      </FormDialog>
    );
  }
  const close = (
    <Button tone="main" onClick={onClose}>
      {texts.common.close}
    </Button>
  );
  return (
    <Dialog title={words.rotate} onClose={onClose} actions={close}>
      <div className="form" role="status">
        <p>{words.rotated(result.sealed)}</p>
        {result.locked.length > 0 && (
          <>
            <p>{words.locked}</p>
            <ul className="mono">
              {result.locked.map((name) => (
                <li key={name}>{name}</li>
              ))}
            </ul>
          </>
        )}
      </div>
    </Dialog>
  );
}
