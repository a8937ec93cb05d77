import type { Client } from "@nova/client";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type JSX, type ReactNode, useState } from "react";
import { useNova } from "../../api/nova.ts";
import { useWorkflowIds } from "../../api/queries.ts";
import { asRaw, formatJson, parseObject } from "../../json/raw.ts";
import { Button, IconButton } from "../../parts/button.tsx";
import { Field, TextArea, TextField } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Card } from "../../parts/page.tsx";
import { ErrorNote } from "../../parts/states.tsx";
import { texts } from "../../texts.ts";
import {
  checkQuota,
  createQuotasDraft,
  createSettingsDraft,
  diffSettings,
  parseQuotas,
  quotaNames,
  type SettingsDraft,
} from "./changes.ts";
import "./client-page.css";

interface SectionProps {
  slug: string;
  title: string;
  hint?: string;
  /** The change to save; undefined if there is none, or the input is invalid. */
  change: Changes | undefined;
  children: ReactNode;
}

export type Changes = Parameters<ReturnType<typeof useNova>["clients"]["change"]>[1];

/** A part of a client with its own save button. */
export function Section({ slug, title, hint, change, children }: SectionProps): JSX.Element {
  const nova = useNova();
  const queries = useQueryClient();
  const [state, setState] = useState<"saving" | "saved">();
  const [error, setError] = useState<unknown>();
  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (change === undefined) return;
    setState("saving");
    setError(undefined);
    try {
      queries.setQueryData(["client", slug], await nova.clients.change(slug, change));
      setState("saved");
      await queries.invalidateQueries({ queryKey: ["clients"] });
    } catch (cause) {
      setState(undefined);
      setError(cause);
    }
  };
  const isSaved = state === "saved" && change === undefined;
  return (
    <Card title={title} hint={hint}>
      <form className="card-body form" onSubmit={save}>
        {children}
        <ErrorNote error={error} />
        <div className="form-end">
          <Button submit tone="main" disabled={change === undefined || state === "saving"}>
            {texts.common.save}
          </Button>
          <span role="status" className="saved">
            {isSaved && (
              <>
                <Icon name="check" size={14} /> {texts.common.saved}
              </>
            )}
          </span>
        </div>
      </form>
    </Card>
  );
}

/** Returns undefined for an empty change. */
export function omitEmpty(changes: Changes): Changes | undefined {
  return Object.keys(changes).length === 0 ? undefined : changes;
}

const words = texts.clients;

export function Settings({ client }: { client: Client }): JSX.Element {
  const [draft, setDraft] = useState(() => createSettingsDraft(client));
  const set = (field: keyof SettingsDraft) => (value: string) => setDraft({ ...draft, [field]: value });
  const { settings } = words;
  return (
    <Section slug={client.slug} title={settings.title} change={omitEmpty(diffSettings(client, draft))}>
      <TextField label={settings.name} value={draft.name} required maxLength={200} onChange={set("name")} />
      <TextField
        label={settings.mailFrom}
        hint={settings.mailFromHint}
        type="email"
        value={draft.mailFrom}
        onChange={set("mailFrom")}
      />
      <TextField label={settings.mails} hint={settings.mailsHint} value={draft.mails} onChange={set("mails")} />
      <div className="form-pair">
        <TextField
          label={settings.webhook}
          hint={settings.webhookHint}
          type="url"
          value={draft.webhook}
          onChange={set("webhook")}
        />
        <TextField label={settings.secret} hint={settings.secretHint} value={draft.secret} onChange={set("secret")} />
      </div>
    </Section>
  );
}

export function Quotas({ client }: { client: Client }): JSX.Element {
  const before = createQuotasDraft(client.quotas);
  const [draft, setDraft] = useState(before);
  const { quotas } = words;
  const misfits = quotaNames.map((name) => checkQuota(name, draft[name]));
  const isSame = quotaNames.every((name) => draft[name].trim() === before[name]);
  const isPossible = !isSame && misfits.every((misfit) => misfit === undefined);
  return (
    <Section
      slug={client.slug}
      title={quotas.title}
      hint={quotas.hint}
      change={isPossible ? { quotas: parseQuotas(draft) } : undefined}
    >
      <div className="form-pair">
        {quotaNames.map((name, index) => {
          const misfit = misfits[index];
          return (
            <TextField
              key={name}
              label={quotas[name]}
              hint={quotas[`${name}Hint`]}
              error={misfit && quotas[misfit]}
              inputMode="decimal"
              placeholder={words.unlimited}
              value={draft[name]}
              onChange={(value) => setDraft({ ...draft, [name]: value })}
            />
          );
        })}
      </div>
    </Section>
  );
}

export function Variables({ client }: { client: Client }): JSX.Element {
  const before = formatJson(asRaw(client.variables).text);
  const [text, setText] = useState(before);
  const { variables } = words;
  const object = parseObject(text);
  // The client's type describes the parsed value, but variables are sent as text.
  const change =
    object && formatJson(object.text) !== before ? ({ variables: object } as unknown as Changes) : undefined;
  return (
    <Section slug={client.slug} title={variables.title} hint={variables.hint} change={change}>
      <TextArea
        label={variables.label}
        error={object ? undefined : variables.misfit}
        value={text}
        rows={Math.min(16, text.split("\n").length + 1)}
        onChange={setText}
      />
    </Section>
  );
}

export function Pins({ client }: { client: Client }): JSX.Element {
  const [pins, setPins] = useState(() =>
    Object.entries(client.pins).map(([id, version]) => ({ id, version: `${version}` })),
  );
  const ids = useWorkflowIds();
  const { pins: labels } = words;
  const newPins = Object.fromEntries(pins.map(({ id, version }) => [id, Number(version)]));
  const isValid = pins.every(({ id, version }) => id !== "" && /^[1-9]\d{0,8}$/.test(version));
  const isSame = formatSorted(newPins) === formatSorted(client.pins);
  const set = (index: number, change: object) =>
    setPins(pins.map((pin, at) => (at === index ? { ...pin, ...change } : pin)));
  return (
    <Section
      slug={client.slug}
      title={labels.title}
      hint={labels.hint}
      change={isValid && !isSame ? { pins: newPins } : undefined}
    >
      {pins.length === 0 && <p className="quiet">{labels.none}</p>}
      <div className="pins">
        {pins.map((pin, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no id
          <div key={index} className="pin">
            <Field label={labels.workflow}>
              {(controlIds) => (
                <select
                  {...controlIds}
                  className="input"
                  value={pin.id}
                  onChange={({ target }) => set(index, { id: target.value })}
                >
                  {[...new Set(["", pin.id, ...ids])].map((id) => (
                    <option key={id} value={id}>
                      {id}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            <TextField
              label={labels.version}
              inputMode="numeric"
              value={pin.version}
              onChange={(version) => set(index, { version: version.trim() })}
            />
            <IconButton
              icon="bin"
              label={labels.remove(pin.id)}
              onClick={() => setPins(pins.filter((_, at) => at !== index))}
            />
          </div>
        ))}
      </div>
      <div>
        <Button icon="plus" onClick={() => setPins([...pins, { id: "", version: "1" }])}>
          {labels.add}
        </Button>
      </div>
    </Section>
  );
}

function formatSorted(pins: Record<string, number>): string {
  return JSON.stringify(Object.entries(pins).sort(([a], [b]) => (a < b ? -1 : 1)));
}
