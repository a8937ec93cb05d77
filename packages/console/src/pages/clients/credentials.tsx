import type { CredentialOwner, Schemas } from "@nova/client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type JSX, useState } from "react";
import { useNova } from "../../api/nova.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { ConfirmDialog, FormDialog } from "../../parts/dialog.tsx";
import { SelectField, TextArea, TextField } from "../../parts/field.tsx";
import { Card } from "../../parts/page.tsx";
import { Empty, QueryView } from "../../parts/states.tsx";
import { Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { texts } from "../../texts.ts";
import {
  buildValues,
  type CredentialDraft,
  type CredentialField,
  checkField,
  checkPair,
  emptyDraft,
  isValidDraft,
  type Kind,
  kinds,
  type Pair,
} from "./credential-kinds.ts";
import "./client-page.css";

type Credential = Schemas["Credential"];

const words = texts.clients.credentials;

type CredentialDialog = { form: Credential | undefined } | { remove: Credential };

/** The credentials of an owner. Their values are never shown. */
export function Credentials({ owner }: { owner: CredentialOwner }): JSX.Element {
  const nova = useNova();
  const queries = useQueryClient();
  const queryKey = ["credentials", owner];
  const credentials = useQuery({ queryKey, queryFn: () => Array.fromAsync(nova.credentials.list(owner)) });
  const [dialog, setDialog] = useState<CredentialDialog>();
  const close = () => setDialog(undefined);
  const readAgain = () => queries.invalidateQueries({ queryKey });
  const remove = async ({ name }: Credential) => {
    await nova.credentials.remove(owner, name);
    await readAgain();
  };
  return (
    <Card
      title={words.title}
      hint={words.hint}
      end={
        <Button icon="plus" onClick={() => setDialog({ form: undefined })}>
          {words.create}
        </Button>
      }
    >
      <QueryView query={credentials} lines={3}>
        {(items) =>
          items.length === 0 ? (
            <Empty icon="lock" title={words.empty} hint={words.emptyHint} />
          ) : (
            <CredentialTable credentials={items} ask={setDialog} />
          )
        }
      </QueryView>
      {dialog && "form" in dialog && (
        <CredentialForm owner={owner} replaced={dialog.form} onStored={readAgain} onClose={close} />
      )}
      {dialog && "remove" in dialog && (
        <ConfirmDialog
          title={words.confirmRemove(dialog.remove.name)}
          action={words.remove}
          onConfirm={() => remove(dialog.remove)}
          onClose={close}
        >
          <p className="quiet">{words.confirmRemoveHint}</p>
        </ConfirmDialog>
      )}
    </Card>
  );
}

interface CredentialTableProps {
  credentials: readonly Credential[];
  ask(dialog: CredentialDialog): void;
}

function CredentialTable({ credentials, ask }: CredentialTableProps): JSX.Element {
  const { columns } = words;
  return (
    <Table
      items={credentials}
      keyOf={({ name }) => name}
      columns={[
        { label: columns.name, show: ({ name }) => name, look: "mono" },
        { label: columns.kind, show: ({ kind }) => words.kinds[kind], look: "quiet" },
        { label: columns.changed, show: ({ changed_at }) => <Time at={changed_at} />, look: "wide fixed quiet" },
        {
          label: columns.actions,
          show: (one) => (
            <>
              <IconButton icon="restart" label={words.replace(one.name)} onClick={() => ask({ form: one })} />
              <IconButton icon="bin" label={words.removeOne(one.name)} onClick={() => ask({ remove: one })} />
            </>
          ),
          look: "sheet-end",
        },
      ]}
    />
  );
}

interface CredentialFormProps {
  owner: CredentialOwner;
  /** The credential that is replaced; its values are unknown here. */
  replaced: Schemas["Credential"] | undefined;
  onStored(): Promise<unknown>;
  onClose(): void;
}

/** A form for a credential. It starts empty, and its input is discarded when it closes. */
export function CredentialForm({ owner, replaced, onStored, onClose }: CredentialFormProps): JSX.Element {
  const nova = useNova();
  const [kind, setKind] = useState<Kind>(replaced?.kind ?? "email");
  const [name, setName] = useState<string>(replaced?.name ?? "");
  const [draft, setDraft] = useState(emptyDraft);
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async () => {
    setPending(true);
    try {
      await nova.credentials.set(owner, name.trim() || kind, { kind, values: buildValues(kind, draft) });
      await onStored();
      onClose();
    } catch (cause) {
      setError(cause);
      setPending(false);
    }
  };
  return (
    <FormDialog
      title={replaced ? words.replace(replaced.name) : words.create}
      action={words.store}
      isPending={isPending || !isValidDraft(kind, draft)}
      isSecret
      error={error}
      onSubmit={submit}
      onClose={onClose}
    >
      <div className="form-pair">
        <SelectField
          label={words.kind}
          value={kind}
          values={Object.entries(words.kinds)}
          onChange={(chosen) => {
            setKind(chosen as Kind);
            setDraft(emptyDraft);
          }}
        />
        <TextField
          label={words.name}
          value={name}
          placeholder={kind}
          required={kind === "custom"}
          disabled={replaced !== undefined}
          pattern="[a-z][a-z0-9_]{0,39}"
          onChange={setName}
        />
      </div>
      <p className="quiet">{replaced ? words.storeHint : `${words.kindHints[kind]} ${words.nameHint}`}</p>
      <Fields kind={kind} draft={draft} onChange={setDraft} />
    </FormDialog>
  );
}

interface FieldsProps {
  kind: Kind;
  draft: CredentialDraft;
  onChange(draft: CredentialDraft): void;
}

function Fields({ kind, draft, onChange }: FieldsProps): JSX.Element {
  return (
    <div className="form-pair">
      {kinds[kind].map((field) =>
        field.type === "pairs" ? (
          <Pairs
            key={field.name}
            kind={kind}
            label={formatFieldLabel(field)}
            pairs={draft.pairs}
            onChange={(pairs) => onChange({ ...draft, pairs })}
          />
        ) : (
          <Value
            key={field.name}
            field={field}
            value={draft.texts[field.name] ?? ""}
            onChange={(value) => onChange({ ...draft, texts: { ...draft.texts, [field.name]: value } })}
          />
        ),
      )}
    </div>
  );
}

function Value({
  field,
  value,
  onChange,
}: {
  field: CredentialField;
  value: string;
  onChange(value: string): void;
}): JSX.Element {
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
  return isOptional ? words.optional(words.fields[label]) : words.fields[label];
}

interface PairsProps {
  kind: Kind;
  label: string;
  pairs: readonly Pair[];
  onChange(pairs: readonly Pair[]): void;
}

/** Named secret texts. A value may have several lines, as PEM keys do. */
export function Pairs({ kind, label, pairs, onChange }: PairsProps): JSX.Element {
  const set = (index: number, change: Partial<Pair>) =>
    onChange(pairs.map((pair, at) => (at === index ? { ...pair, ...change } : pair)));
  return (
    <fieldset className="pairs">
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
              onChange={(to) => set(index, { name: to })}
            />
            <TextArea
              label={words.pairValue}
              error={problem === "short" ? words.problems.short : undefined}
              value={value}
              rows={1}
              required={kind === "custom"}
              autoComplete="off"
              onChange={(to) => set(index, { value: to })}
            />
            <IconButton
              icon="bin"
              label={words.removePair}
              disabled={pairs.length === 1}
              onClick={() => onChange(pairs.filter((_, at) => at !== index))}
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
