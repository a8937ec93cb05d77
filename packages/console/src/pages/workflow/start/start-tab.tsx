import { useMutation } from "@tanstack/react-query";
import { type DragEvent, type FormEvent, type JSX, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useNova } from "../../../api/nova.ts";
import { useClientSlugs } from "../../../api/use-lists.ts";
import { memberOf, Raw } from "../../../json/raw.ts";
import { Button } from "../../../parts/button.tsx";
import { SelectField } from "../../../parts/field.tsx";
import { type Draft, draftsOf, filesIn, membersText } from "../../../parts/form/draft.ts";
import { FormFields } from "../../../parts/form/form-fields.tsx";
import { type Problems, problemsOf } from "../../../parts/form/problems.ts";
import { fieldsOf, takesMore } from "../../../parts/form/schema.ts";
import { Read } from "../../../parts/read.tsx";
import { Empty } from "../../../parts/states.tsx";
import { Trouble } from "../../../parts/trouble.tsx";
import { texts } from "../../../texts.ts";

import { useParts, useWorkflow, type WholeWorkflow } from "../use-workflow.ts";
import { useVersions } from "../version-picker.tsx";
import { MoreValues } from "./more-values.tsx";
import { type Extra, extraProblems, keyedFields, newExtra, withFiles } from "./values.ts";
import "../../../parts/sheet.css";
import "./start-tab.css";

const words = texts.workflows.begin;
const noProblems: Problems = new Map();

/** A form for what a run begins with. */
export function StartTab({ workflow }: { workflow: WholeWorkflow }): JSX.Element {
  const { id, active_version: active } = workflow;
  const [version, setVersion] = useState<number>();
  const wanted = version ?? active ?? undefined;
  const shown = useWorkflow(id, wanted);
  if (wanted === undefined) return <Empty icon="clock" title={words.title} hint={words.notReady} />;
  return (
    <Read query={shown}>
      {(found) => <StartForm key={wanted} workflow={found} version={version} onVersion={setVersion} />}
    </Read>
  );
}

interface StartFormProps {
  workflow: WholeWorkflow;
  /** Undefined: the active one. */
  version: number | undefined;
  onVersion(version: number | undefined): void;
}

function StartForm({ workflow, version, onVersion }: StartFormProps): JSX.Element {
  const inputs = memberOf(useParts(workflow).text, "inputs");
  const fields = useMemo(() => fieldsOf(inputs ?? "{}"), [inputs]);
  const [drafts, setDrafts] = useState<readonly Draft[]>(() => draftsOf(fields));
  const [extras, setExtras] = useState<readonly Extra[]>(() => (fields.length === 0 ? [newExtra()] : []));
  const [client, setClient] = useState("");
  const [isChecked, setChecked] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const hasRoom = inputs === undefined || takesMore(inputs);
  const problems = useMemo(() => problemsOf(fields, drafts), [fields, drafts]);
  const keyProblems = extraProblems(extras, fields);
  const { start, progress } = useStart(workflow.id);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (problems.size + keyProblems.size > 0) return focusFirstBad(form.current);
    const all = [...fields, ...keyedFields(extras)];
    const given = [...drafts, ...extras.map(({ draft }) => draft)];
    start.mutate({
      files: given.flatMap(filesIn),
      contextWith: (uploaded) => new Raw(`{${membersText(all, given, uploaded).join(",")}}`),
      ...{ client, version },
    });
  };
  const drop = (event: DragEvent) => {
    if (event.defaultPrevented || event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    const placed = withFiles({ fields, drafts, extras, hasRoom }, Array.from(event.dataTransfer.files));
    setDrafts(placed.drafts);
    setExtras(placed.extras);
  };
  return (
    <div className="page-body">
      <form
        ref={form}
        className="start-form card"
        aria-label={words.title}
        onSubmit={submit}
        onDragOver={(event) => event.preventDefault()}
        onDrop={drop}
      >
        <div className="card-body">
          {fields.length === 0 && <p className="quiet start-hint">{words.noInputs}</p>}
          <FormFields
            {...{ fields, drafts, onChange: setDrafts, id: "start-" }}
            problems={isChecked ? problems : noProblems}
            takesFiles
          />
          {hasRoom && (
            <MoreValues extras={extras} onChange={setExtras} problems={isChecked ? keyProblems : noProblems} />
          )}
        </div>
        <Options {...{ workflow, version, onVersion, client, onClient: setClient }} />
        <footer className="start-foot">
          {workflow.paused_at !== null && <p className="quiet">{words.queued}</p>}
          {isChecked && problems.size + keyProblems.size > 0 && (
            <p className="form-trouble">{texts.tasks.fix(problems.size + keyProblems.size)}</p>
          )}
          <Trouble error={start.error} />
          <div className="start-acts">
            <Button submit tone="main" icon="play" disabled={start.isPending}>
              {start.isPending ? words.starting : words.submit}
            </Button>
            <span className="quiet" role="status">
              {start.isPending ? progress : words.dropHere}
            </span>
          </div>
        </footer>
      </form>
    </div>
  );
}

function focusFirstBad(form: HTMLFormElement | null): void {
  requestAnimationFrame(() => form?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus());
}

interface Start {
  files: readonly File[];
  contextWith(uploaded: ReadonlyMap<File, string>): Raw;
  client: string;
  version: number | undefined;
}

/** Sends the files first, as the client's: what stands for them goes into the context. */
function useStart(id: string) {
  const nova = useNova();
  const [, go] = useLocation();
  const [progress, setProgress] = useState("");
  const start = useMutation({
    async mutationFn({ files, contextWith, client, version }: Start) {
      const owner = client === "" ? {} : { client_slug: client };
      const uploaded = new Map<File, string>();
      for (const [index, file] of files.entries()) {
        setProgress(words.uploading(file.name, index + 1, files.length));
        const about = { ...owner, bytes: file.size, ...(file.type !== "" && { type: file.type }) };
        uploaded.set(file, JSON.stringify(await nova.upload(file, about)));
      }
      setProgress("");
      const context = contextWith(uploaded);
      return nova.executions.execute(id, { ...owner, context, ...(version !== undefined && { version }) });
    },
    onSuccess: ({ execution_id }) => go(`/runs/${execution_id}`),
  });
  return { start, progress };
}

interface OptionsProps extends StartFormProps {
  client: string;
  onClient(client: string): void;
}

function Options({ workflow, version, onVersion, client, onClient }: OptionsProps): JSX.Element {
  const clients = useClientSlugs();
  const versions = useVersions(workflow.id);
  const ready = versions.data?.pages.flatMap(({ items }) => items).filter(({ status }) => status === "ready") ?? [];
  return (
    <div className="card-body start-options">
      <SelectField
        label={words.client}
        value={client}
        values={[["", words.ownClient] as const, ...clients.map((slug) => [slug, slug] as const)]}
        onChange={onClient}
      />
      <SelectField
        label={words.version}
        value={version === undefined ? "" : String(version)}
        values={[
          ["", words.active(workflow.active_version ?? workflow.version)] as const,
          ...ready.map((one) => [String(one.version), texts.workflows.version(one.version)] as const),
        ]}
        onChange={(to) => onVersion(to === "" ? undefined : Number(to))}
      />
    </div>
  );
}
