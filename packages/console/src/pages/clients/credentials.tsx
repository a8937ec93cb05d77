import type { CredentialOwner, Schemas } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useNova } from "../../api/nova.ts";
import { useReload } from "../../api/queries.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { ConfirmButton, DialogButton, FormDialog } from "../../parts/dialog.tsx";
import { SelectField, TextArea, TextField } from "../../parts/field.tsx";
import { Card } from "../../parts/page.tsx";
import { ListView } from "../../parts/states.tsx";
import { Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";
import {
  buildValues,
  type CredentialField,
  checkField,
  checkPair,
  emptyDraft,
  isValidDraft,
  type Kind,
  kinds,
  type Pair,
} from "./drafts.ts";

type Credential = Schemas["Credential"];

const words = texts.clients.credentials;

/** Lists the credentials of their owner, but never shows their values. */
export function Credentials({ owner }: { owner: CredentialOwner }) {
  const nova = useNova();
  const reload = useReload();
  const queryKey = ["credentials", owner];
  const credentials = useQuery({ queryKey, queryFn: () => Array.fromAsync(nova.credentials.list(owner)) });
  const create = (
    <DialogButton icon="plus" label={words.create} dialog={<CredentialForm owner={owner} replaced={undefined} />} />
  );
  const { columns } = words;
  const showActions = (one: Credential) => (
    <>
      <DialogButton
        icon="restart"
        isIcon
        label={words.replace(one.name)}
        dialog={<CredentialForm owner={owner} replaced={one} />}
      />
      <ConfirmButton
        icon="bin"
        isIcon
        label={words.removeOne(one.name)}
        title={words.confirmRemove(one.name)}
        action={words.remove}
        hint={words.confirmRemoveHint}
        onConfirm={() => nova.credentials.remove(owner, one.name).then(() => reload(queryKey))}
      />
    </>
  );
  return (
    <Card title={words.title} hint={words.hint} end={create}>
      <ListView query={credentials} lines={3} icon="lock" words={words}>
        {(items) => (
          <Table
            items={items}
            keyOf={({ name }) => name}
            columns={[
              [columns.name, ({ name }) => name, "mono"],
              [columns.kind, ({ kind }) => words.kinds[kind][0], "quiet"],
              [columns.changed, ({ changed_at }) => <Time at={changed_at} />, "wide fixed quiet"],
              [columns.actions, showActions, "sheet-end"],
            ]}
          />
        )}
      </ListView>
    </Card>
  );
}

interface CredentialFormProps {
  owner: CredentialOwner;
  /** The credential that is replaced. The page does not know its values. */
  replaced: Credential | undefined;
}

/** A form for a credential. It starts empty, and discards its input when it closes. */
function CredentialForm({ owner, replaced }: CredentialFormProps) {
  const nova = useNova();
  const reload = useReload();
  const [kind, setKind] = useState<Kind>(replaced?.kind ?? "email");
  const [name, setName] = useState<string>(replaced?.name ?? "");
  const [draft, setDraft] = useState(emptyDraft);
  const store = async () => {
    await nova.credentials.set(owner, name.trim() || kind, { kind, values: buildValues(kind, draft) });
    await reload(["credentials", owner]);
  };
  return (
    <FormDialog
      title={replaced ? words.replace(replaced.name) : words.create}
      action={words.store}
      isIncomplete={!isValidDraft(kind, draft)}
      isSecret
      onSubmit={store}
    >
      <div className="columns">
        <SelectField
          label={words.columns.kind}
          value={kind}
          values={Object.entries(words.kinds).map(([one, [text]]) => [one, text] as const)}
          onChange={(chosen) => {
            setKind(chosen as Kind);
            setDraft(emptyDraft);
          }}
        />
        <TextField
          label={words.columns.name}
          value={name}
          placeholder={kind}
          required={kind === "custom"}
          disabled={replaced !== undefined}
          pattern="[a-z][a-z0-9_]{0,39}"
          onChange={setName}
        />
      </div>
      <p className="quiet">{replaced ? words.storeHint : `${words.kinds[kind][1]} ${words.nameHint}`}</p>
      <div className="columns">
        {kinds[kind].map((field) =>
          field.type === "pairs" ? (
            <Pairs
              key={field.name}
              kind={kind}
              label={formatFieldLabel(field)}
              pairs={draft.pairs}
              onChange={(pairs) => setDraft({ ...draft, pairs })}
            />
          ) : (
            <Value
              key={field.name}
              field={field}
              value={draft.texts[field.name] ?? ""}
              onChange={(value) => setDraft({ ...draft, texts: { ...draft.texts, [field.name]: value } })}
            />
          ),
        )}
      </div>
    </FormDialog>
  );
}

function Value({ field, value, onChange }: { field: CredentialField; value: string; onChange(value: string): void }) {
  const problem = checkField(field, value);
  const types = { secret: "password", url: "url", text: "text", port: "text", pairs: "text" };
  return (
    <TextField
      label={formatFieldLabel(field)}
      error={problem && words.problems[problem]}
      type={types[field.type]}
      autoComplete={field.type === "secret" ? "new-password" : "off"}
      inputMode={field.type === "port" ? "numeric" : undefined}
      required={field.isOptional !== true}
      placeholder={field.example}
      value={value}
      onChange={onChange}
    />
  );
}

function formatFieldLabel({ label, isOptional }: CredentialField): string {
  return isOptional ? words.optional(label) : label;
}

interface PairsProps {
  kind: Kind;
  label: string;
  pairs: readonly Pair[];
  onChange(pairs: readonly Pair[]): void;
}

/** Edits secret texts, each with a name. A value may have several lines, as PEM keys do. */
function Pairs({ kind, label, pairs, onChange }: PairsProps) {
  const set = (index: number, pair: Pair) => onChange(pairs.with(index, pair));
  return (
    <fieldset className="field pairs stack">
      <legend>{label}</legend>
      {pairs.map(({ name, value }, index) => {
        const problem = checkPair(kind, pairs, index);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no id
          <div key={index} className="pair">
            <TextField
              label={words.pairName}
              error={problem && problem !== "short" ? words.problems[problem] : undefined}
              value={name}
              placeholder={kind === "custom" ? "api_key" : "X-Api-Key"}
              required={kind === "custom"}
              onChange={(to) => set(index, { name: to, value })}
            />
            <TextArea
              label={words.pairValue}
              error={problem === "short" ? words.problems.short : undefined}
              value={value}
              rows={1}
              required={kind === "custom"}
              autoComplete="off"
              onChange={(to) => set(index, { name, value: to })}
            />
            <IconButton
              icon="bin"
              label={words.removePair}
              disabled={pairs.length === 1}
              onClick={() => onChange(pairs.toSpliced(index, 1))}
            />
          </div>
        );
      })}
      <div>
        <Button icon="plus" tone="ghost" onClick={() => onChange([...pairs, { name: "", value: "" }])}>
          {words.addPair}
        </Button>
      </div>
    </fieldset>
  );
}
