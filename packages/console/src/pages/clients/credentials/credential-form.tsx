import type { CredentialOwner, Schemas } from "@nova/client";
import { type JSX, useState } from "react";
import { useNova } from "../../../api/nova.ts";
import { Ask } from "../../../parts/ask.tsx";
import { SelectField, TextField } from "../../../parts/field.tsx";
import { texts } from "../../../texts.ts";
import {
  type CredentialDraft,
  type CredentialField,
  emptyDraft,
  isSound,
  type Kind,
  kinds,
  problemOf,
  valuesOf,
} from "./kinds.ts";
import { Pairs } from "./pairs.tsx";

const words = texts.clients.credentials;

interface CredentialFormProps {
  owner: CredentialOwner;
  /** Takes the place of this one; its values are not known here. */
  replaced: Schemas["Credential"] | undefined;
  onStored(): Promise<unknown>;
  onClose(): void;
}

/** Write-only: it begins empty, and what was typed is gone with it. */
export function CredentialForm({ owner, replaced, onStored, onClose }: CredentialFormProps): JSX.Element {
  const nova = useNova();
  const [kind, setKind] = useState<Kind>(replaced?.kind ?? "email");
  const [name, setName] = useState<string>(replaced?.name ?? "");
  const [draft, setDraft] = useState(emptyDraft);
  const [isAtWork, setAtWork] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async () => {
    setAtWork(true);
    try {
      await nova.credentials.set(owner, name.trim() || kind, { kind, values: valuesOf(kind, draft) });
      await onStored();
      onClose();
    } catch (refused) {
      setError(refused);
      setAtWork(false);
    }
  };
  return (
    <Ask
      title={replaced ? words.replace(replaced.name) : words.create}
      action={words.store}
      isPending={isAtWork || !isSound(kind, draft)}
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
    </Ask>
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
            label={labelOf(field)}
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
  const problem = problemOf(field, value);
  const types = { secret: "password", url: "url", text: "text", port: "text", pairs: "text" };
  return (
    <TextField
      label={labelOf(field)}
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

function labelOf({ label, isOptional }: CredentialField): string {
  return isOptional ? words.optional(words.fields[label]) : words.fields[label];
}
