import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type JSX, useState } from "react";
import { useLocation } from "wouter";
import { useNova } from "../../api/nova.ts";
import { Ask } from "../../parts/ask.tsx";
import { TextField } from "../../parts/field.tsx";
import { texts } from "../../texts.ts";

const words = texts.clients;

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
    <Ask
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
    </Ask>
  );
}
