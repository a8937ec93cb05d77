import type { Client, NovaClient } from "@nova/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useList, useReload, useWorkflowChoices, useWorkflowName } from "../../api/queries.ts";
import { asRaw, formatJson, parseObject } from "../../json/raw.ts";
import { Button, CopyButton, IconButton } from "../../parts/button.tsx";
import { CloseButton, ConfirmButton, Dialog, DialogButton, FormDialog } from "../../parts/dialog.tsx";
import { SelectField, TextArea, TextField } from "../../parts/field.tsx";
import { useAddress } from "../../parts/filters.tsx";
import { Card, PageColumn, PageHead, SaveForm } from "../../parts/page.tsx";
import { ErrorNote, ListView, QueryView } from "../../parts/states.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { saveFile } from "../../parts/value.tsx";
import { texts } from "../../texts.ts";
import { deriveSlug } from "../workflows/workflow-files.ts";
import { Credentials } from "./credentials.tsx";
import {
  checkQuota,
  createQuotasDraft,
  createSettingsDraft,
  diffSettings,
  parseQuotas,
  quotaNames,
  type SettingsDraft,
} from "./drafts.ts";

const words = texts.clients;

export function ClientsPage() {
  const clients = useList("/clients");
  const [{ deleted }] = useAddress(["deleted"]);
  const create = <DialogButton icon="plus" tone="main" label={words.create} dialog={<NewClient />} />;
  return (
    <>
      <PageHead title={texts.nav.clients} end={clients.data && create} />
      <div className="page-body">
        {deleted !== undefined && (
          <p className="notice tone-run" role="status">
            {words.danger.deleting(deleted)}
          </p>
        )}
        <ListView query={clients} icon="people" words={words}>
          {(items) => (
            <div className="card">
              <Table items={items} columns={columns} keyOf={({ slug }) => slug} />
            </div>
          )}
        </ListView>
        {clients.data && (
          <div>
            <DialogButton icon="lock" tone="ghost" label={words.rotate} dialog={<RotateCredentials />} />
          </div>
        )}
      </div>
    </>
  );
}

const unlimited = <span className="quiet">{words.unlimited}</span>;
const columns: readonly Column<Client>[] = [
  [
    words.settings.name,
    ({ slug, name }) => (
      <Link href={`/clients/${slug}`}>
        <UntrustedText text={name} />
      </Link>
    ),
  ],
  [words.columns.slug, ({ slug }) => slug, "mono quiet"],
  [words.quotas.max_concurrent, ({ quotas: { max_concurrent } }) => max_concurrent ?? unlimited, "number wide"],
  [
    words.quotas.max_cost_usd,
    ({ quotas: { max_cost_usd } }) => (max_cost_usd == null ? unlimited : `$${max_cost_usd}`),
    "number wide",
  ],
  [
    words.columns.retention,
    ({ quotas: { retention_days } }) => (retention_days == null ? unlimited : words.days(retention_days)),
    "number wide",
  ],
  [words.columns.created, ({ created_at }) => <Time at={created_at} />, "wide fixed quiet"],
];

function NewClient() {
  const nova = useNova();
  const reload = useReload();
  const [, go] = useLocation();
  const [name, setName] = useState("");
  const [typedSlug, setSlug] = useState<string>();
  const slug = typedSlug ?? deriveSlug(name);
  const create = async () => {
    const client = await nova.clients.create({ slug: slug.trim(), name: name.trim() });
    await reload(["/clients"]);
    go(`/clients/${client.slug}`);
  };
  return (
    <FormDialog title={words.create} onSubmit={create}>
      <TextField label={words.settings.name} value={name} required maxLength={200} autoFocus onChange={setName} />
      <TextField
        label={words.columns.slug}
        hint={words.slugHint}
        value={slug}
        required
        pattern="[a-z0-9][a-z0-9\-]*"
        maxLength={63}
        onChange={setSlug}
      />
    </FormDialog>
  );
}

/** Lets the user re-encrypt all credentials, and lists the credentials that no encryption key decrypts. */
function RotateCredentials() {
  const nova = useNova();
  const [result, setResult] = useState<{ sealed: number; locked: readonly string[] }>();
  const rotate = () => nova.credentials.rotate().then(setResult);
  if (!result) {
    return (
      <FormDialog title={words.confirmRotate} action={words.rotate} staysOpen onSubmit={rotate}>
        <p className="quiet">{words.rotateHint}</p>
      </FormDialog>
    );
  }
  return (
    <Dialog title={words.rotate} actions={<CloseButton tone="main" />}>
      <div className="stack loose" role="status">
        <p>{words.rotated(result.sealed)}</p>
        {result.locked.length > 0 && (
          <>
            <p>{words.locked}</p>
            <ul className="mono">
              {result.locked.map((name) => (
                <li key={name}>{name}</li>
              ))}
            </ul>
          </>
        )}
      </div>
    </Dialog>
  );
}

export function ClientPage() {
  const { slug = "" } = useParams<{ slug: string }>();
  const nova = useNova();
  const query = useQuery({ queryKey: ["client", slug], queryFn: () => nova.clients.get(slug) });
  return (
    <QueryView query={query} missing={{ words, to: "/clients" }}>
      {(client) => (
        <>
          <PageHead
            title={<UntrustedText text={client.name} />}
            back={{ to: "/clients", label: words.back }}
            end={
              <span className="quiet">
                {words.columns.created} <Time at={client.created_at} />
              </span>
            }
          >
            <span className="mono quiet">{slug}</span>
          </PageHead>
          <PageColumn key={slug}>
            <Credentials owner={{ client: slug }} />
            <div className="client-parts">
              <Settings client={client} />
              <Variables client={client} />
              <Quotas client={client} />
              <Pins client={client} />
            </div>
            <Danger client={client} />
          </PageColumn>
        </>
      )}
    </QueryView>
  );
}

type Changes = Parameters<NovaClient["clients"]["change"]>[1];

interface SectionProps {
  slug: string;
  words: { title: string; hint?: string };
  /** The change to save; undefined if there is none, or the input is invalid. */
  change: Changes | undefined;
  children: ReactNode;
}

/** A section of a client's page, with its own save button. */
function Section({ slug, words: { title, hint }, change = {}, children }: SectionProps) {
  const nova = useNova();
  const queries = useQueryClient();
  const save = async () => {
    queries.setQueryData(["client", slug], await nova.clients.change(slug, change));
    await queries.invalidateQueries({ queryKey: ["/clients"] });
  };
  return (
    <Card title={title} hint={hint}>
      <SaveForm canSave={Object.keys(change).length > 0} save={save}>
        {children}
      </SaveForm>
    </Card>
  );
}

function Settings({ client }: { client: Client }) {
  const [draft, setDraft] = useState(() => createSettingsDraft(client));
  const { settings } = words;
  const bind = (field: keyof SettingsDraft) => ({
    label: settings[field],
    value: draft[field],
    onChange: (value: string) => setDraft({ ...draft, [field]: value }),
  });
  return (
    <Section slug={client.slug} words={settings} change={diffSettings(client, draft)}>
      <TextField {...bind("name")} required maxLength={200} />
      <TextField {...bind("mailFrom")} hint={settings.mailFromHint} type="email" />
      <TextField {...bind("mails")} hint={settings.mailsHint} />
      <div className="columns">
        <TextField {...bind("webhook")} hint={settings.webhookHint} type="url" />
        <TextField {...bind("secret")} hint={settings.secretHint} />
      </div>
    </Section>
  );
}

function Quotas({ client }: { client: Client }) {
  const before = createQuotasDraft(client.quotas);
  const [draft, setDraft] = useState(before);
  const { quotas } = words;
  const misfits = quotaNames.map((name) => checkQuota(name, draft[name]));
  const isSame = quotaNames.every((name) => draft[name].trim() === before[name]);
  const isPossible = !isSame && misfits.every((misfit) => misfit === undefined);
  return (
    <Section slug={client.slug} words={quotas} change={isPossible ? { quotas: parseQuotas(draft) } : undefined}>
      <div className="columns">
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

function Variables({ client }: { client: Client }) {
  const before = formatJson(asRaw(client.variables).text);
  const [text, setText] = useState(before);
  const { variables } = words;
  const object = parseObject(text);
  // The API client expects a parsed value, but variables are sent as JSON text, so that numbers keep their digits.
  const change =
    object && formatJson(object.text) !== before ? ({ variables: object } as unknown as Changes) : undefined;
  return (
    <Section slug={client.slug} words={variables} change={change}>
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

function Pins({ client }: { client: Client }) {
  const [pins, setPins] = useState(() =>
    Object.entries(client.pins).map(([id, version]) => ({ id, version: `${version}` })),
  );
  const [workflows, nameOf] = [useWorkflowChoices(), useWorkflowName()];
  const { pins: labels } = words;
  const newPins = Object.fromEntries(pins.map(({ id, version }) => [id, Number(version)]));
  const isValid = pins.every(({ id, version }) => id !== "" && /^[1-9]\d{0,8}$/.test(version));
  const isSame = formatSorted(newPins) === formatSorted(client.pins);
  return (
    <Section slug={client.slug} words={labels} change={isValid && !isSame ? { pins: newPins } : undefined}>
      {pins.length === 0 && <p className="quiet">{labels.none}</p>}
      <div className="stack">
        {pins.map((pin, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: rows have no id
          <div key={index} className="pin">
            <SelectField
              label={texts.runs.columns.workflow}
              value={pin.id}
              values={[...new Set(["", pin.id, ...workflows.map(([id]) => id)])].map((id) => [id, nameOf(id)])}
              onChange={(id) => setPins(pins.with(index, { ...pin, id }))}
            />
            <TextField
              label={texts.workflows.shown}
              inputMode="numeric"
              value={pin.version}
              onChange={(version) => setPins(pins.with(index, { ...pin, version: version.trim() }))}
            />
            <IconButton icon="bin" label={labels.remove(pin.id)} onClick={() => setPins(pins.toSpliced(index, 1))} />
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

const dangerWords = texts.clients.danger;

function Danger({ client: { slug } }: { client: Client }) {
  const nova = useNova();
  const reload = useReload();
  const [, go] = useLocation();
  const remove = async () => {
    await nova.clients.delete(slug);
    await reload(["/clients"]);
    go(`/clients?deleted=${slug}`);
  };
  const command = `nova export --client ${slug} ${slug}-copy`;
  return (
    <Card title={dangerWords.title}>
      <div className="card-body columns">
        <div className="stack start">
          <p className="quiet">{dangerWords.exportHint}</p>
          <div className="well row">
            <code className="fill break">{command}</code>
            <CopyButton text={command} />
          </div>
          <Download slug={slug} />
        </div>
        <div className="stack start">
          <p className="quiet">{dangerWords.deleteHint}</p>
          <ConfirmButton
            icon="bin"
            tone="danger"
            label={dangerWords.delete}
            title={dangerWords.confirmDelete(slug)}
            hint={dangerWords.deleteHint}
            requiredText={slug}
            onConfirm={remove}
          />
        </div>
      </div>
    </Card>
  );
}

/** A button that reads a client's export page by page, and saves it as one file. */
function Download({ slug }: { slug: string }) {
  const nova = useNova();
  const [count, setCount] = useState(0);
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const { mutate, isPending, error } = useMutation({
    async mutationFn() {
      const controller = new AbortController();
      stop.current = controller;
      const lines: string[] = [];
      setCount(0);
      for await (const page of readExport(nova, slug, controller.signal)) {
        lines.push(...page);
        setCount(lines.length);
      }
      saveFile(`${slug}.jsonl`, new Blob(lines, { type: "application/jsonl" }));
    },
  });
  return (
    <>
      <div className="line">
        <Button icon="download" disabled={isPending} onClick={() => mutate()}>
          {isPending ? dangerWords.exporting(count) : dangerWords.export}
        </Button>
        {isPending && (
          <Button tone="ghost" onClick={() => stop.current?.abort()}>
            {dangerWords.stop}
          </Button>
        )}
      </div>
      <ErrorNote error={stop.current?.signal.aborted ? undefined : error} />
    </>
  );
}

/** Reads the export of a client. Each record is one line of JSON. The last line is the signature of all records. */
async function* readExport(nova: NovaClient, slug: string, signal: AbortSignal): AsyncGenerator<string[]> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = cursor === undefined ? {} : { cursor };
    const params = { path: { slug }, query };
    const page = await nova.ask(nova.api.GET("/clients/{slug}/export", { params, signal }));
    yield page.items.map((item) => `${JSON.stringify(item)}\n`);
    if (page.seal !== undefined) yield [`${JSON.stringify({ kind: "seal", seal: page.seal })}\n`];
    cursor = page.next_cursor;
  }
}
