import type { Key, Schemas } from "@nova/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type JSX, useState } from "react";
import { useNova } from "../../api/nova.ts";
import { useClientSlugs } from "../../api/queries.ts";
import { Button, CopyButton, IconButton } from "../../parts/button.tsx";
import { ConfirmDialog, Dialog, FormDialog } from "../../parts/dialog.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { PageHead } from "../../parts/page.tsx";
import { Empty, QueryView } from "../../parts/states.tsx";
import { Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import "./keys-page.css";

const words = texts.apiKeys;

/** All API keys. */
export function KeysPage(): JSX.Element {
  const nova = useNova();
  const queries = useQueryClient();
  const keys = useQuery({ queryKey: ["keys"], queryFn: () => Array.fromAsync(nova.keys.list()) });
  const [dialog, setDialog] = useState<"new" | Key>();
  const close = () => setDialog(undefined);
  const readAgain = () => queries.invalidateQueries({ queryKey: ["keys"] });
  const remove = async ({ id }: Key) => {
    await nova.keys.delete(id);
    await readAgain();
  };
  return (
    <>
      <PageHead
        title={words.title}
        end={
          keys.data && (
            <Button icon="plus" tone="main" onClick={() => setDialog("new")}>
              {words.create}
            </Button>
          )
        }
      />
      <div className="page-body">
        <QueryView query={keys}>
          {(items) =>
            items.length === 0 ? (
              <Empty icon="key" title={words.empty} hint={words.emptyHint} />
            ) : (
              <KeyTable keys={items} onDelete={setDialog} />
            )
          }
        </QueryView>
      </div>
      {dialog === "new" && <NewKey onMade={readAgain} onClose={close} />}
      {dialog !== undefined && dialog !== "new" && (
        <ConfirmDialog
          title={words.confirmDelete(dialog.name)}
          action={words.delete}
          onConfirm={() => remove(dialog)}
          onClose={close}
        >
          <p className="quiet">{words.confirmDeleteHint}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function KeyTable({ keys, onDelete }: { keys: readonly Key[]; onDelete(key: Key): void }): JSX.Element {
  const { columns } = words;
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  const makerOf = ({ created_by: by }: Key) => (by === null ? words.setUp : (names.get(by) ?? by));
  return (
    <div className="card">
      <Table
        items={keys}
        keyOf={({ id }) => id}
        columns={[
          {
            label: columns.name,
            show: ({ id, name }) => (
              <span title={id}>
                <UntrustedText text={name || id} />
              </span>
            ),
          },
          { label: columns.role, show: ({ role }) => words.roles[role] },
          { label: columns.client, show: ({ client_slug }) => client_slug ?? texts.common.everyone, look: "quiet" },
          { label: columns.created, show: ({ created_at }) => <Time at={created_at} />, look: "wide fixed quiet" },
          { label: columns.by, show: (key) => <UntrustedText text={makerOf(key)} />, look: "wide quiet" },
          {
            label: columns.actions,
            show: (key) => (
              <IconButton icon="bin" label={words.deleteOne(key.name || key.id)} onClick={() => onDelete(key)} />
            ),
            look: "sheet-end",
          },
        ]}
      />
    </div>
  );
}

type Role = Schemas["Key"]["role"];
const roles = Object.entries(words.roles) as [Role, string][];

/** Creates a key and shows it once. Closing the dialog discards it. */
export function NewKey({ onMade, onClose }: { onMade(): void; onClose(): void }): JSX.Element {
  const nova = useNova();
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const [client, setClient] = useState("");
  const clients = useClientSlugs();
  const create = useMutation({
    // The key must not stay in memory after the dialog closes.
    gcTime: 0,
    mutationFn: () =>
      nova.keys.create({ role, ...(name.trim() && { name: name.trim() }), ...(client && { client_slug: client }) }),
    onSuccess: onMade,
  });
  if (create.data) return <MadeKey text={create.data.key} onClose={onClose} />;
  return (
    <FormDialog
      title={words.create}
      isPending={create.isPending}
      error={create.error}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextField
        label={words.columns.name}
        hint={words.nameHint}
        value={name}
        maxLength={200}
        autoFocus
        onChange={setName}
      />
      <SelectField
        label={words.columns.role}
        hint={words.roleHints[role]}
        value={role}
        values={roles}
        onChange={(value) => setRole(value as Role)}
      />
      <SelectField
        label={words.columns.client}
        hint={words.clientHint}
        value={client}
        values={[["", words.asYours], ...clients.map((slug) => [slug, slug] as const)]}
        onChange={setClient}
      />
    </FormDialog>
  );
}

function MadeKey({ text, onClose }: { text: string; onClose(): void }): JSX.Element {
  return (
    <Dialog
      title={words.made}
      onClose={onClose}
      actions={
        <Button tone="main" onClick={onClose}>
          {words.kept}
        </Button>
      }
    >
      <div className="form">
        <p>{words.madeHint}</p>
        <div className="made-key">
          <code>{text}</code>
          <CopyButton text={text} />
        </div>
      </div>
    </Dialog>
  );
}
