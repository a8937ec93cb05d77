import { useMutation } from "@tanstack/react-query";
import { type DragEvent, type FormEvent, useMemo, useRef, useState } from "react";
import { useLocation } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useClientSlugs } from "../../api/queries.ts";
import { findMember, Raw } from "../../json/raw.ts";
import { Button } from "../../parts/button.tsx";
import { SelectField } from "../../parts/field.tsx";
import { toChoices } from "../../parts/filters.tsx";
import {
  allowsMoreKeys,
  createDrafts,
  type Draft,
  findProblems,
  listFiles,
  type Problems,
  parseFields,
  renderMembers,
} from "../../parts/form/form.ts";
import { FormFields, focusFirstBad } from "../../parts/form/form-fields.tsx";
import { Empty, ErrorNote, QueryView } from "../../parts/states.tsx";
import { texts } from "../../texts.ts";
import { MoreValues } from "./more-values.tsx";
import { checkExtras, createExtra, createExtraFields, type Extra, placeFiles } from "./start-values.ts";
import { useParts, useVersions, useWorkflow, type WholeWorkflow } from "./use-workflow.tsx";

const words = texts.workflows.begin;
const noProblems: Problems = new Map();

export function StartTab({ workflow }: { workflow: WholeWorkflow }) {
  const { id, active_version: active } = workflow;
  const [version, setVersion] = useState<number>();
  const shownVersion = version ?? active ?? undefined;
  const query = useWorkflow(id, shownVersion);
  if (shownVersion === undefined) return <Empty icon="clock" title={words.title} hint={words.notReady} />;
  return (
    <QueryView query={query}>
      {(data) => <StartForm key={shownVersion} workflow={data} version={version} onVersion={setVersion} />}
    </QueryView>
  );
}

interface StartFormProps {
  workflow: WholeWorkflow;
  /** The version to run; undefined: the active version. */
  version: number | undefined;
  onVersion(version: number | undefined): void;
}

function StartForm({ workflow, version, onVersion }: StartFormProps) {
  const nova = useNova();
  const [, go] = useLocation();
  const inputs = findMember(useParts(workflow).text, "inputs");
  const fields = useMemo(() => parseFields(inputs ?? "{}"), [inputs]);
  const [drafts, setDrafts] = useState<readonly Draft[]>(() => createDrafts(fields));
  const [extras, setExtras] = useState<readonly Extra[]>(() => (fields.length === 0 ? [createExtra()] : []));
  const [client, setClient] = useState("");
  const [isChecked, setChecked] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const allowsMore = inputs === undefined || allowsMoreKeys(inputs);
  const problems = useMemo(() => findProblems(fields, drafts), [fields, drafts]);
  const keyProblems = checkExtras(extras, fields);
  const [progress, setProgress] = useState("");
  const start = useMutation({
    /** Uploads the files, and starts a run with references to them. */
    async mutationFn() {
      const allDrafts = [...drafts, ...extras.map(({ draft }) => draft)];
      const owner = client === "" ? {} : { client_slug: client };
      const files = allDrafts.flatMap(listFiles);
      const uploaded = new Map<File, string>();
      for (const [index, file] of files.entries()) {
        setProgress(words.uploading(file.name, index + 1, files.length));
        const about = { ...owner, bytes: file.size, ...(file.type !== "" && { type: file.type }) };
        uploaded.set(file, JSON.stringify(await nova.upload(file, about)));
      }
      setProgress("");
      const members = renderMembers([...fields, ...createExtraFields(extras)], allDrafts, uploaded);
      const context = new Raw(`{${members.join(",")}}`);
      return nova.executions.execute(workflow.id, { ...owner, context, ...(version !== undefined && { version }) });
    },
    onSuccess: ({ execution_id }) => go(`/runs/${execution_id}`),
  });
  const problemCount = problems.size + keyProblems.size;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (problemCount > 0) focusFirstBad(form.current);
    else start.mutate();
  };
  const drop = (event: DragEvent) => {
    if (event.defaultPrevented || event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    const placed = placeFiles({ drafts, extras, allowsMore }, Array.from(event.dataTransfer.files));
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
        <div className="card-body stack apart">
          {fields.length === 0 && <p className="quiet">{words.noInputs}</p>}
          <FormFields
            fields={fields}
            drafts={drafts}
            onChange={setDrafts}
            id="start-"
            problems={isChecked ? problems : noProblems}
            takesFiles
          />
          {allowsMore && (
            <MoreValues
              extras={extras}
              onChange={setExtras}
              problems={isChecked ? keyProblems : noProblems}
              takesFiles
              words={words}
            />
          )}
        </div>
        <Options workflow={workflow} version={version} onVersion={onVersion} client={client} onClient={setClient} />
        <footer className="start-foot stack">
          {workflow.paused_at !== null && <p className="quiet">{words.queued}</p>}
          {isChecked && problemCount > 0 && <p className="field-error">{texts.tasks.fix(problemCount)}</p>}
          <ErrorNote error={start.error} />
          <div className="line">
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

interface OptionsProps extends StartFormProps {
  client: string;
  onClient(client: string): void;
}

function Options({ workflow, version, onVersion, client, onClient }: OptionsProps) {
  const clients = useClientSlugs();
  const versions = useVersions(workflow.id);
  const ready = versions.data?.filter(({ status }) => status === "ready") ?? [];
  return (
    <div className="card-body start-options columns">
      <SelectField
        label={texts.runs.columns.client}
        value={client}
        values={[["", words.ownClient], ...toChoices(clients)]}
        onChange={onClient}
      />
      <SelectField
        label={texts.workflows.shown}
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
