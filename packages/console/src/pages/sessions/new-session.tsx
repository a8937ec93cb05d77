import type { SessionOptions } from "@nova/client";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type JSX, useState } from "react";
import { useLocation } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useClientSlugs, useWorkflowIds } from "../../api/use-lists.ts";
import { objectIn } from "../../json/typed.ts";
import { Ask } from "../../parts/ask.tsx";
import { SelectField, TextArea, TextField } from "../../parts/field.tsx";
import { texts } from "../../texts.ts";

const words = texts.sessions;

/** An empty session, or one that begins as a workflow. */
export function NewSession({ onClose }: { onClose(): void }): JSX.Element {
  const nova = useNova();
  const queries = useQueryClient();
  const [, go] = useLocation();
  const [workflows, clients] = [useWorkflowIds(), useClientSlugs()];
  const [name, setName] = useState("");
  const [workflow, setWorkflow] = useState("");
  const [client, setClient] = useState("");
  const [text, setText] = useState("{}");
  const context = objectIn(text);
  const create = useMutation({
    mutationFn: (options: SessionOptions) => nova.sessions.create(options),
    async onSuccess({ session_id }) {
      await queries.invalidateQueries({ queryKey: ["sessions"] });
      go(`/sessions/${session_id}`);
    },
  });
  const submit = () => {
    if (!context) return;
    create.mutate({
      ...(name.trim() !== "" && { name: name.trim() }),
      ...(workflow !== "" && { workflow }),
      ...(client !== "" && { client_slug: client }),
      context,
    });
  };
  const { form } = words;
  const choices = (first: string, values: readonly string[]) =>
    [["", first], ...values.map((one) => [one, one] as const)] as const;
  return (
    <Ask {...{ title: words.create, onClose, isPending: create.isPending, error: create.error }} onSubmit={submit}>
      <SelectField label={form.from} value={workflow} values={choices(form.empty, workflows)} onChange={setWorkflow} />
      <TextField label={form.name} hint={form.nameHint} value={name} maxLength={200} autoFocus onChange={setName} />
      {clients.length > 1 && (
        <SelectField
          label={form.client}
          value={client}
          values={choices(form.usualClient, clients)}
          onChange={setClient}
        />
      )}
      <TextArea
        label={form.context}
        hint={form.contextHint}
        error={context ? undefined : form.misfit}
        value={text}
        rows={4}
        onChange={setText}
      />
    </Ask>
  );
}
