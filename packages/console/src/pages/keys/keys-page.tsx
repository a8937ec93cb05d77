import type { Key } from "@nova/client";
import { useState } from "react";
import { useNova } from "../../api/nova.ts";
import { useClientSlugs, useList, useReload } from "../../api/queries.ts";
import { CopyButton } from "../../parts/button.tsx";
import { CloseButton, ConfirmButton, Dialog, DialogButton, FormDialog } from "../../parts/dialog.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { toChoices } from "../../parts/filters.tsx";
import { PageHead } from "../../parts/page.tsx";
import { ListView } from "../../parts/states.tsx";
import { Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";

const words = texts.apiKeys;

export function KeysPage() {
  const keys = useList("/keys");
  const create = <DialogButton icon="plus" tone="main" label={words.create} dialog={<NewKey />} />;
  return (
    <>
      <PageHead title={words.title} end={keys.data && create} />
      <div className="page-body">
        <ListView query={keys} icon="key" words={words}>
          {(items) => <KeyTable keys={items} />}
        </ListView>
      </div>
    </>
  );
}

function KeyTable({ keys }: { keys: readonly Key[] }) {
  const { columns } = words;
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  const findMaker = ({ created_by: by }: Key) => (by === null ? words.setUp : (names.get(by) ?? by));
  return (
    <div className="card">
      <Table
        items={keys}
        keyOf={({ id }) => id}
        columns={[
          [columns.name, ({ id, name }) => <UntrustedText as="span" title={id} text={name || id} />],
          [columns.role, ({ role }) => words.roles[role]],
          [columns.client, ({ client_slug }) => client_slug ?? texts.common.everyone, "quiet"],
          [columns.created, ({ created_at }) => <Time at={created_at} />, "wide fixed quiet"],
          [columns.by, (key) => <UntrustedText text={findMaker(key)} />, "wide quiet"],
          [columns.actions, (key) => <DeleteKey item={key} />, "sheet-end"],
        ]}
      />
    </div>
  );
}

function DeleteKey({ item: { id, name } }: { item: Key }) {
  const nova = useNova();
  const reload = useReload();
  return (
    <ConfirmButton
      icon="bin"
      isIcon
      label={words.deleteOne(name || id)}
      title={words.confirmDelete(name)}
      action={words.delete}
      hint={words.confirmDeleteHint}
      onConfirm={() => nova.keys.delete(id).then(() => reload(["/keys"]))}
    />
  );
}

type Role = Key["role"];
const roles = Object.entries(words.roles) as [Role, string][];

/** A dialog that creates a key and shows it once. When the dialog closes, the page forgets the key. */
function NewKey() {
  const nova = useNova();
  const reload = useReload();
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const [client, setClient] = useState("");
  const [newKey, setNewKey] = useState<string>();
  const clients = useClientSlugs();
  const create = async () => {
    const names = { ...(name.trim() && { name: name.trim() }), ...(client && { client_slug: client }) };
    setNewKey((await nova.keys.create({ role, ...names })).key);
    await reload(["/keys"]);
  };
  if (newKey !== undefined) return <CreatedKey text={newKey} />;
  return (
    <FormDialog title={words.create} staysOpen onSubmit={create}>
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
        values={[["", words.asYours], ...toChoices(clients)]}
        onChange={setClient}
      />
    </FormDialog>
  );
}

function CreatedKey({ text }: { text: string }) {
  return (
    <Dialog title={words.made} actions={<CloseButton label={words.kept} tone="main" />}>
      <div className="stack loose">
        <p>{words.madeHint}</p>
        <div className="well row">
          <code className="fill break">{text}</code>
          <CopyButton text={text} />
        </div>
      </div>
    </Dialog>
  );
}
