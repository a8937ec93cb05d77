import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type JSX, useId, useState } from "react";
import { useLocation } from "wouter";
import { useNova } from "../../api/nova.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { Trouble } from "../../parts/trouble.tsx";
import { texts } from "../../texts.ts";

const words = texts.clients;

export function NewClient({ onClose }: { onClose(): void }): JSX.Element {
  const nova = useNova();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const form = useId();
  const [slug, setSlug] = useState("");
  const [name, setName] = useState("");
  const create = useMutation({
    mutationFn: () => nova.clients.create({ slug: slug.trim(), name: name.trim() }),
    async onSuccess(client) {
      await queries.invalidateQueries({ queryKey: ["clients"] });
      go(`/clients/${client.slug}`);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <Dialog
      title={words.create}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{texts.common.cancel}</Button>
          <Button submit form={form} tone="main" disabled={create.isPending}>
            {words.create}
          </Button>
        </>
      }
    >
      <form id={form} className="form" onSubmit={submit}>
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
        <Trouble error={create.error} />
      </form>
    </Dialog>
  );
}
