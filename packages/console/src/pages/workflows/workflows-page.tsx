import { type Execution, formatPercentile, formatRate, formatUsd, type Schemas, type Workflow } from "@nova/client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type DragEvent, type ReactNode, useMemo, useState } from "react";
import { Link, useLocation } from "wouter";
import { useNova, workConcurrently } from "../../api/nova.ts";
import { useList, useReload, useWorkflowChoices } from "../../api/queries.ts";
import { Raw } from "../../json/raw.ts";
import { Button } from "../../parts/button.tsx";
import { ShareBar } from "../../parts/chart.tsx";
import { DialogButton, FormDialog } from "../../parts/dialog.tsx";
import { SelectField, TextField } from "../../parts/field.tsx";
import { FilterBar, SearchField, useAddress } from "../../parts/filters.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useRowKeys } from "../../parts/keyboard.tsx";
import { PageHead } from "../../parts/page.tsx";
import { ErrorNote, ListView } from "../../parts/states.tsx";
import { Badge, getStatusTone, statuses } from "../../parts/status.tsx";
import { Table } from "../../parts/table.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { deriveSlug, readWorkflowFiles, type TextFile } from "./workflow-files.ts";

const words = texts.workflows;
const runsPauseMs = 10_000;
/**
 * Milliseconds between two reads of the list. They are few, because a user who publishes a workflow looks for it here.
 */
const listPauseMs = 3_000;
/** Number of recent runs that are read for all workflows together. */
const recentRuns = 200;
const maxMarks = 12;

export function WorkflowsPage() {
  const [filters, change] = useAddress(["text"]);
  const query = useList("/workflows", {}, { refetchInterval: listPauseMs });
  const workflows = useMemo(() => {
    const wanted = filters.text?.toLowerCase() ?? "";
    return (query.data ?? []).filter(({ id, name }) => id.includes(wanted) || name.toLowerCase().includes(wanted));
  }, [query.data, filters.text]);
  return (
    <>
      <PageHead
        title={words.title}
        note={query.data && words.count(workflows.length)}
        end={<NewWorkflowButton isMain />}
      />
      <FilterBar filters={filters} change={change}>
        <SearchField value={filters.text} label={words.search} onChange={(text) => change({ text })} />
      </FilterBar>
      <ListView
        query={query}
        items={workflows}
        icon="flow"
        words={words}
        emptyContent={<FirstSteps />}
        noneContent={
          filters.text !== undefined && <Button onClick={() => change({ text: undefined })}>{words.clear}</Button>
        }
      >
        {() => <WorkflowTable workflows={workflows} />}
      </ListView>
    </>
  );
}

function WorkflowTable({ workflows }: { workflows: readonly Workflow[] }) {
  const nova = useNova();
  const statistics = useList("/analytics/workflows", {}, { staleTime: 30_000 });
  const recent = useQuery({
    queryKey: ["runs", "latest", recentRuns],
    refetchInterval: runsPauseMs,
    queryFn: ({ signal }) =>
      nova.ask(nova.api.GET("/executions", { params: { query: { limit: recentRuns } }, signal })),
  });
  const figures = useMemo(
    () => new Map(statistics.data?.map((one) => [one.workflow, one] as const)),
    [statistics.data],
  );
  const runs = useMemo(() => Map.groupBy(recent.data?.items ?? [], ({ workflow }) => workflow), [recent.data]);
  const older = useOlderRuns(recent.data === undefined ? [] : workflows.flatMap(({ id }) => (runs.has(id) ? [] : id)));
  const [, go] = useLocation();
  const at = useRowKeys(workflows.length, words.keys, (index) => go(`/workflows/${workflows[index]?.id}`));
  const { columns } = words;
  return (
    <div className="page-body workflows-body">
      <div className="card">
        <Table
          items={workflows}
          at={at}
          keyOf={({ id }) => id}
          columns={[
            [columns.name, (workflow) => <Name workflow={workflow} />],
            [columns.version, (workflow) => <Version workflow={workflow} />, "fixed"],
            [columns.last, ({ id }) => <LastRuns workflow={id} runs={runs.get(id) ?? older?.get(id)} />, "fixed"],
            [columns.success, ({ id }) => <SuccessRate figures={figures.get(id)} />, "fixed wide"],
            [
              columns.p95,
              ({ id }) => {
                const ms = figures.get(id)?.p95_ms;
                return ms != null && formatPercentile(ms);
              },
              "fixed wide number",
            ],
            [
              columns.cost,
              ({ id }) => (figures.get(id)?.cost_usd ? formatUsd(figures.get(id)?.cost_usd ?? 0) : ""),
              "fixed wide number",
            ],
          ]}
        />
      </div>
    </div>
  );
}

/** Reads the newest runs of workflows that have none among the recent runs of all workflows. */
function useOlderRuns(ids: readonly string[]): ReadonlyMap<string, readonly Execution[]> | undefined {
  const nova = useNova();
  const query = useQuery({
    queryKey: ["runs", "older", ids],
    enabled: ids.length > 0,
    staleTime: 60_000,
    placeholderData: keepPreviousData,
    async queryFn({ signal }) {
      const found = new Map<string, readonly Execution[]>();
      await workConcurrently(ids, async (workflow) => {
        const params = { query: { workflow, limit: maxMarks } };
        found.set(workflow, (await nova.ask(nova.api.GET("/executions", { params, signal }))).items);
      });
      return found;
    },
  });
  return query.data;
}

function Name({ workflow: { id, name, paused_at } }: { workflow: Workflow }) {
  return (
    <span className="workflow-name line break">
      <Link href={`/workflows/${id}`}>
        <UntrustedText text={name} />
      </Link>
      {name !== id && <span className="mono quiet">{id}</span>}
      {paused_at !== null && <Badge tone="wait" text={words.paused} />}
    </span>
  );
}

function Version({ workflow }: { workflow: Workflow }) {
  const { active_version: active, version, status } = workflow;
  return (
    <>
      {active === null ? <span className="quiet">{words.noVersion}</span> : words.version(active)}
      {(status !== "ready" || version !== active) && (
        <span className={`workflow-newer toned small tone-${status === "failed" ? "bad" : "idle"}`}>
          {words.newer(version, words.statuses[status])}
        </span>
      )}
    </>
  );
}

/** A mark per recent run, newest at the right. Marks of failed runs are taller, so that colour is not the only signal. */
function LastRuns({ workflow, runs }: { workflow: string; runs: readonly Execution[] | undefined }) {
  if (!runs) return null;
  const last = runs.slice(0, maxMarks).toReversed();
  if (last.length === 0) return <span className="quiet">{words.noRuns}</span>;
  const counts = statuses.flatMap((status) => {
    const count = last.filter((run) => run.status === status).length;
    return count === 0 ? [] : [`${count} ${texts.status[status]}`];
  });
  const label = `${words.lastRuns(last.length)}: ${counts.join(", ")}`;
  return (
    <Link href={`/?workflow=${workflow}`} className="last-runs" aria-label={label} title={label}>
      {last.map(({ execution_id: id, status }) => (
        <span key={id} className={`tone-${getStatusTone(status)}`} data-status={status} />
      ))}
    </Link>
  );
}

function SuccessRate({ figures }: { figures: Schemas["WorkflowFigures"] | undefined }) {
  if (!figures) return null;
  const { success_rate: rate, runs } = figures;
  return (
    <span className="rate row">
      <ShareBar
        parts={[
          { key: "ok", className: "tone-ok", share: rate },
          { key: "bad", className: "tone-bad", share: 1 - rate },
        ]}
      />
      {words.rate(formatRate(rate), runs)}
    </span>
  );
}

const createWords = texts.build.create;

type Source = keyof typeof createWords.sources;

const sources = Object.keys(createWords.sources) as Source[];

/** The templates are loaded on first use. */
const loadTemplates = () => import("@nova/templates");

function NewWorkflowButton({ isMain = false }: { isMain?: boolean }): ReactNode {
  return (
    <DialogButton
      icon="plus"
      tone={isMain ? "main" : "plain"}
      label={createWords.title}
      dialog={(close) => <NewWorkflow onClose={close} />}
    />
  );
}

/** Starts a draft: empty, from a template, as a copy, or from files. */
function NewWorkflow({ onClose }: { onClose(): void }) {
  const nova = useNova();
  const reload = useReload();
  const [, go] = useLocation();
  const workflows = useWorkflowChoices();
  const [source, setSource] = useState<Source>("empty");
  const [name, setName] = useState("");
  const [copied, setCopied] = useState("");
  const [files, setFiles] = useState<readonly TextFile[]>([]);
  const found = readWorkflowFiles(files);
  const create = async () => {
    const named = name.trim() === "" ? {} : { name: name.trim() };
    const { session_id } = await nova.sessions.create({ ...(await readSource()), ...named });
    await reload(["/sessions"]);
    go(`/sessions/${session_id}`);
  };
  const readSource = async () => {
    if (source === "empty") return { name: createWords.untitled };
    if (source === "copy") return { workflow: copied };
    if (source === "file") return { definition: new Raw(found?.definition ?? "{}"), files: found?.files ?? {} };
    const { templates } = await loadTemplates();
    const { files: own } = templates[source];
    return {
      definition: new Raw(own["workflow.json"] ?? "{}"),
      files: own,
      context: new Raw(own["input.json"] ?? "{}"),
    };
  };
  const isIncomplete = (source === "copy" && copied === "") || (source === "file" && !found);
  return (
    <FormDialog
      title={createWords.title}
      action={createWords.action}
      isIncomplete={isIncomplete}
      onSubmit={create}
      onClose={onClose}
    >
      <fieldset className="field">
        <legend>{createWords.from}</legend>
        <div className="sources">
          {sources.map((one) => (
            <label key={one} className="template row" data-chosen={one === source || undefined}>
              <input type="radio" name="source" checked={one === source} onChange={() => setSource(one)} />
              <span className="stack tight">
                <b>{createWords.sources[one].title}</b>
                <span className="quiet small">{createWords.sources[one].hint}</span>
              </span>
            </label>
          ))}
        </div>
      </fieldset>
      {source === "copy" && (
        <SelectField
          label={createWords.copyOf}
          value={copied}
          values={[["", createWords.choose], ...workflows]}
          onChange={setCopied}
        />
      )}
      {source === "file" && <FileDrop files={files} isWorkflow={found !== undefined} onChange={setFiles} />}
      <TextField
        label={createWords.name}
        hint={name.trim() === "" ? createWords.nameHint : createWords.slug(deriveSlug(name))}
        value={name}
        maxLength={200}
        onChange={setName}
      />
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
  const [isOver, setOver] = useState(false);
  const take = async (list: FileList | null) => {
    const chosen = Array.from(list ?? [])
      .filter(({ size }) => size <= maxBytes)
      .slice(0, maxFiles);
    onChange(
      await Promise.all(
        chosen.map(async (file) => ({ name: file.webkitRelativePath || file.name, text: await file.text() })),
      ),
    );
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void take(event.dataTransfer.files);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button below does the same with the keyboard
    <div
      className="form-any stack start"
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <div className="form-file line">
        <input
          id="workflow-files"
          type="file"
          multiple
          className="hidden-label"
          tabIndex={-1}
          aria-label={createWords.files}
          onChange={(event) => void take(event.target.files)}
        />
        <Icon name="upload" />
        <span className="quiet">{createWords.drop}</span>
        <Button onClick={() => document.getElementById("workflow-files")?.click()}>{texts.form.chooseFile}</Button>
      </div>
      {files.length > 0 && (
        <p className={isWorkflow ? "field-hint" : "field-error"} role="status">
          {isWorkflow ? createWords.chosen(files.length) : createWords.noWorkflow}
        </p>
      )}
    </div>
  );
}

/** The first steps on a server without workflows. */
function FirstSteps(): ReactNode {
  const nova = useNova();
  const [, go] = useLocation();
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const runSample = async () => {
    setPending(true);
    setError(undefined);
    try {
      const { templates } = await loadTemplates();
      const { files } = templates.invoice;
      const body = { definition: new Raw(files["workflow.json"] ?? "{}"), files };
      const { id } = await nova.ask(nova.api.POST("/workflows", { body: body as never }));
      const { execution_id } = await nova.executions.execute(id, { context: new Raw(files["input.json"] ?? "{}") });
      go(`/runs/${execution_id}`);
    } catch (cause) {
      setError(cause);
    }
    setPending(false);
  };
  return (
    <div className="stack">
      <div className="line first-steps">
        <Button icon="play" tone="main" disabled={isPending} onClick={runSample}>
          {isPending ? createWords.startingSample : createWords.sample}
        </Button>
        <NewWorkflowButton />
      </div>
      <p className="quiet small">
        <UntrustedText text={createWords.sampleHint} />
      </p>
      <ErrorNote error={error} />
    </div>
  );
}
