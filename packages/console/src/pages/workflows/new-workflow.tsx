import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useLocation } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useClientSlugs, useReload, useWorkflowChoices } from "../../api/queries.ts";
import { Raw } from "../../json/raw.ts";
import { Button, FileButton, useDrop } from "../../parts/button.tsx";
import { DialogButton, FormDialog } from "../../parts/dialog.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { toChoices } from "../../parts/filters.tsx";
import { Icon } from "../../parts/icon.tsx";
import { ErrorNote } from "../../parts/states.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { deriveSlug, readWorkflowFiles, type TextFile } from "./workflow-files.ts";

const words = texts.build.create;

type Source = keyof typeof words.sources;

const sources = Object.keys(words.sources) as Source[];

/** Reads a template. The browser loads the templates on first use. */
async function readTemplate(name: Exclude<Source, "empty" | "copy" | "file">) {
  const { templates } = await import("@nova/templates");
  const { files } = templates[name];
  const readJson = (file: string) => new Raw(files[file] ?? "{}");
  return { definition: readJson("workflow.json"), files, context: readJson("input.json") };
}

export function NewWorkflowButton({ isMain = false }: { isMain?: boolean }): ReactNode {
  return <DialogButton icon="plus" tone={isMain ? "main" : "plain"} label={words.title} dialog={<NewWorkflow />} />;
}

/** Starts a draft: empty, from a template, as a copy, or from files. */
function NewWorkflow() {
  const nova = useNova();
  const reload = useReload();
  const [, go] = useLocation();
  const [workflows, clients] = [useWorkflowChoices(), useClientSlugs()];
  const [client, setClient] = useState("");
  const [source, setSource] = useState<Source>("empty");
  const [name, setName] = useState("");
  const [copied, setCopied] = useState("");
  const [files, setFiles] = useState<readonly TextFile[]>([]);
  const found = readWorkflowFiles(files);
  const create = async () => {
    const { session_id } = await nova.sessions.create({
      ...(await readSource()),
      ...(name.trim() !== "" && { name: name.trim() }),
      ...(client !== "" && { client_slug: client }),
    });
    await reload(["/sessions"]);
    go(`/sessions/${session_id}`);
  };
  const readSource = async () => {
    if (source === "empty") return { name: texts.build.create.title };
    if (source === "copy") return { workflow: copied };
    if (source === "file") return { definition: new Raw(found?.definition ?? "{}"), files: found?.files ?? {} };
    return readTemplate(source);
  };
  const isIncomplete = (source === "copy" && copied === "") || (source === "file" && !found);
  return (
    <FormDialog title={words.title} action={words.action} isIncomplete={isIncomplete} onSubmit={create}>
      <fieldset className="field">
        <legend>{words.from}</legend>
        <div className="sources">
          {sources.map((one) => (
            <label key={one} className="template row" data-chosen={one === source || undefined}>
              <input type="radio" name="source" checked={one === source} onChange={() => setSource(one)} />
              <span className="stack tight">
                <b>{words.sources[one].title}</b>
                <span className="quiet small">{words.sources[one].hint}</span>
              </span>
            </label>
          ))}
        </div>
      </fieldset>
      {source === "copy" && (
        <SelectField
          label={texts.runs.columns.workflow}
          value={copied}
          values={[["", texts.form.choose], ...workflows]}
          onChange={setCopied}
        />
      )}
      {source === "file" && <FileDrop files={files} isWorkflow={found !== undefined} onChange={setFiles} />}
      <TextField
        label={words.name}
        hint={name.trim() === "" ? words.nameHint : words.slug(deriveSlug(name))}
        value={name}
        maxLength={200}
        onChange={setName}
      />
      {clients.length > 1 && (
        <SelectField
          label={texts.runs.columns.client}
          value={client}
          values={[["", words.usualClient], ...toChoices(clients)]}
          onChange={setClient}
        />
      )}
    </FormDialog>
  );
}

interface FileDropProps {
  files: readonly TextFile[];
  isWorkflow: boolean;
  onChange(files: readonly TextFile[]): void;
}

const maxFiles = 100;
const maxBytes = 1_000_000;

function FileDrop({ files, isWorkflow, onChange }: FileDropProps) {
  const take = async (list: readonly File[]) => {
    const chosen = list.filter(({ size }) => size <= maxBytes).slice(0, maxFiles);
    onChange(
      await Promise.all(
        chosen.map(async (file) => ({ name: file.webkitRelativePath || file.name, text: await file.text() })),
      ),
    );
  };
  const { isOver, attributes } = useDrop((list) => void take(list));
  return (
    <div className="form-any stack start" data-over={isOver || undefined} {...attributes}>
      <div className="form-file line">
        <Icon name="upload" />
        <span className="quiet">{words.drop}</span>
        <FileButton multiple label={words.files} onFiles={(list) => void take(list)}>
          {texts.form.chooseFile}
        </FileButton>
      </div>
      {files.length > 0 && (
        <p className={isWorkflow ? "field-hint" : "field-error"} role="status">
          {isWorkflow ? words.chosen(files.length) : words.noWorkflow}
        </p>
      )}
    </div>
  );
}

/** The first steps on a server without workflows. */
export function FirstSteps(): ReactNode {
  const nova = useNova();
  const [, go] = useLocation();
  const sample = useMutation({
    async mutationFn() {
      const { definition, files, context } = await readTemplate("invoice");
      const { id } = await nova.ask(nova.api.POST("/workflows", { body: { definition, files } as never }));
      return nova.executions.execute(id, { context });
    },
    onSuccess: ({ execution_id }) => go(`/runs/${execution_id}`),
  });
  return (
    <div className="stack">
      <div className="line first-steps">
        <Button icon="play" tone="main" disabled={sample.isPending} onClick={() => sample.mutate()}>
          {sample.isPending ? texts.workflows.begin.starting : words.sample}
        </Button>
        <NewWorkflowButton />
      </div>
      <p className="quiet small">
        <UntrustedText text={words.sampleHint} />
      </p>
      <ErrorNote error={sample.error} />
    </div>
  );
}
