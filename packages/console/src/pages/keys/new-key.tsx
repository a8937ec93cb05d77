import type { Schemas } from "@nova/client";
import { useMutation } from "@tanstack/react-query";
import { type JSX, useState } from "react";
import { useNova } from "../../api/nova.ts";
import { useClientSlugs } from "../../api/use-lists.ts";
import { Ask } from "../../parts/ask.tsx";
import { Button } from "../../parts/button.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { texts } from "../../texts.ts";
import "./new-key.css";

type Role = Schemas["Key"]["role"];

const words = texts.apiKeys;
const roles = Object.entries(words.roles) as [Role, string][];

/** Makes a key, and shows it this once: closing the dialog forgets it. */
export function NewKey({ onMade, onClose }: { onMade(): void; onClose(): void }): JSX.Element {
  const nova = useNova();
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const [client, setClient] = useState("");
  const clients = useClientSlugs();
  const create = useMutation({
    // Nothing keeps the answer once the dialog is closed.
    gcTime: 0,
    mutationFn: () =>
      nova.keys.create({ role, ...(name.trim() && { name: name.trim() }), ...(client && { client_slug: client }) }),
    onSuccess: onMade,
  });
  if (create.data) return <MadeKey text={create.data.key} onClose={onClose} />;
  return (
    <Ask
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
    </Ask>
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
