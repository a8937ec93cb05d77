import { formatDuration, formatUsd, type RestartForecast, type WholeExecution } from "@nova/client";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { useNova } from "../../api/nova.ts";
import { asRaw, listMembers, Raw } from "../../json/raw.ts";
import { FormDialog } from "../../parts/dialog.tsx";
import { SelectField } from "../../parts/field.tsx";
import { renderMembers } from "../../parts/form/form.ts";
import { QueryView } from "../../parts/states.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { diffNodeTexts, listNodeTexts } from "../workflow/definition.ts";
import { MoreValues, type MoreValuesProps } from "../workflow/more-values.tsx";
import { checkExtras, createExtra, createExtraFields, type Extra } from "../workflow/start-values.ts";
import { NodeTextDiffs, readVersion, useVersions } from "../workflow/use-workflow.tsx";

const words = texts.restart;

interface RestartDialogProps {
  run: WholeExecution;
  /** The place from which the run restarts; default: the failed nodes. */
  from?: string;
}

/** Shows which nodes would run and which results would be reused. Restarts the run after a confirmation. */
export function RestartDialog({ run, from }: RestartDialogProps) {
  const { execution_id: id, workflow } = run;
  const nova = useNova();
  const [, go] = useLocation();
  const [chosen, setChosen] = useState<number>();
  const [extras, setExtras] = useState<readonly Extra[]>([]);
  const [again, setAgain] = useState<readonly string[]>([]);
  const active = useQuery({ queryKey: ["workflow", workflow, "active"], queryFn: () => nova.workflows.get(workflow) });
  const version = chosen ?? active.data?.active_version ?? undefined;
  const problems = checkExtras(extras, []);
  const patch = problems.size === 0 ? renderPatch(extras) : undefined;
  const request = {
    ...(from !== undefined && { from }),
    ...(version !== undefined && { version }),
    ...(patch !== undefined && { context_patch: new Raw(patch) }),
    ...(again.length > 0 && { ask_again: [...again] }),
  };
  const forecast = useForecast(id, request, active.data !== undefined || active.error !== null);
  const { data } = forecast;
  return (
    <FormDialog
      title={from === undefined ? texts.run.restart : `${texts.run.restart}: ${from}`}
      action={texts.run.restart}
      isIncomplete={!data || forecast.isPlaceholderData || data.misfits.length > 0 || problems.size > 0}
      onSubmit={() => nova.executions.restart(id, request).then(({ execution_id }) => go(`/runs/${execution_id}`))}
    >
      <VersionField run={run} active={active.data?.active_version ?? null} version={version} onChange={setChosen} />
      {version !== undefined && version !== run.version && <VersionDiff run={run} version={version} />}
      <Patch run={run} extras={extras} problems={problems} onChange={setExtras} />
      <AskAgain run={run} reused={data?.reused ?? []} again={again} onChange={setAgain} />
      <QueryView query={forecast} lines={4}>
        {(found) => <ForecastView forecast={found} />}
      </QueryView>
    </FormDialog>
  );
}

type RestartRequest = Parameters<ReturnType<typeof useNova>["executions"]["restart"]>[1];

/** Asks the server which nodes a restart would run, and starts nothing. */
export function useForecast(id: string, request: RestartRequest, enabled: boolean) {
  const { executions } = useNova();
  return useQuery({
    queryKey: ["forecast", id, request],
    enabled,
    gcTime: 0,
    placeholderData: keepPreviousData,
    queryFn: () => executions.restart(id, { ...request, dry_run: true }),
  });
}

/** Renders the values that replace initial values as a JSON object; undefined if there are no such values. */
function renderPatch(extras: readonly Extra[]): string | undefined {
  const drafts = extras.map(({ draft }) => draft);
  const members = renderMembers(createExtraFields(extras), drafts);
  return members.length === 0 ? undefined : `{${members.join(",")}}`;
}

interface VersionFieldProps {
  run: WholeExecution;
  active: number | null;
  version: number | undefined;
  onChange(version: number): void;
}

function VersionField({ run, active, version, onChange }: VersionFieldProps) {
  const versions = useVersions(run.workflow);
  const ready = versions.data?.filter(({ status }) => status === "ready") ?? [];
  const nameOf = (one: number) =>
    [texts.workflows.version(one), one === active && words.active, one === run.version && words.ofRun]
      .filter(Boolean)
      .join(", ");
  return (
    <SelectField
      label={texts.workflows.shown}
      value={String(version ?? "")}
      values={ready.map((one) => [String(one.version), nameOf(one.version)] as const)}
      onChange={(to) => onChange(Number(to))}
    />
  );
}

function useNodes(workflow: string, version: number) {
  const nova = useNova();
  return useQuery({
    queryKey: ["restart", "definition", workflow, version],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => (await readVersion(nova, workflow, version)).nodes,
  });
}

/** Shows the code and prompts that differ between the version of the run and the chosen version. */
function VersionDiff({ run: { workflow, version: before }, version }: { run: WholeExecution; version: number }) {
  const [old, now] = [useNodes(workflow, before), useNodes(workflow, version)];
  if (!old.data || !now.data) return null;
  const { changed, added, removed } = diffNodeTexts(listNodeTexts(old.data), listNodeTexts(now.data));
  return (
    <details className="stack" open={changed.length === 1}>
      <summary>{words.changes(changed.length, added.length, removed.length)}</summary>
      <NodeTextDiffs changed={changed} />
    </details>
  );
}

interface PatchProps extends Pick<MoreValuesProps, "extras" | "problems" | "onChange"> {
  run: WholeExecution;
}

/** Lets the user enter values that replace values of the initial context. */
function Patch({ run: { execution_id: id }, extras, problems, onChange }: PatchProps) {
  const nova = useNova();
  const start = useQuery({
    queryKey: ["restart", "start", id],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => nova.executions.link(id, 0),
  });
  const members = start.data ? listMembers(asRaw(start.data.output_result).text) : [];
  const left = members.filter(({ key }) => !extras.some((one) => one.key === key));
  const add = (key: string) => {
    const text = members.find((one) => one.key === key)?.text ?? "";
    onChange([...extras, createExtra(key, { kind: "any", mode: "json", text, file: undefined })]);
  };
  return (
    <details open={extras.length > 0}>
      <summary>{words.patch}</summary>
      <div className="stack">
        <SelectField
          label={words.replace}
          hint={words.patchHint}
          value=""
          values={[["", words.chooseKey], ...left.map(({ key }) => [key, key] as const)]}
          onChange={(key) => key !== "" && add(key)}
        />
        <MoreValues extras={extras} problems={problems} onChange={onChange} words={words.values} />
      </div>
    </details>
  );
}

interface AskAgainProps {
  run: WholeExecution;
  reused: readonly string[];
  again: readonly string[];
  onChange(again: readonly string[]): void;
}

const asking = new Set(["approval", "wait", "workflow"]);

/** Lists the reused nodes that asked a person, a model or another system. The user chooses which of them ask again. */
function AskAgain({ run: { workflow, version }, reused, again, onChange }: AskAgainProps) {
  const { data: nodes } = useNodes(workflow, version);
  const places = new Set([...reused.map(nodeOfPlace), ...again]);
  const choices = Array.from(places).filter((id) => {
    const node = nodes?.get(id);
    return node !== undefined && (asking.has(node.type) || node.prompt !== undefined);
  });
  if (choices.length === 0) return null;
  return (
    <fieldset className="field">
      <legend>{words.askAgain}</legend>
      <p className="field-hint">{words.askAgainHint}</p>
      {choices.map((id) => (
        <label key={id} className="row check">
          <input
            type="checkbox"
            checked={again.includes(id)}
            onChange={({ target }) => onChange(target.checked ? [...again, id] : again.filter((one) => one !== id))}
          />
          <UntrustedText text={id} />
        </label>
      ))}
    </fieldset>
  );
}

/** Returns the id of the node at a place, for example `find` for `billing/each[3].find#2`. */
function nodeOfPlace(place: string): string {
  const [last = place] = place.split(/[/.]/).slice(-1);
  return last.replace(/#\d+$|\[\d+\]$/, "");
}

const forecastWords = texts.run.forecast;

/** Lists the nodes that a restart would run, and the results that it would reuse. */
export function ForecastView({ forecast: { estimate, misfits, again, runs, reused } }: { forecast: RestartForecast }) {
  return (
    <div className="stack loose">
      <p>
        {forecastWords.estimate(
          formatDuration(estimate.execution_time_ms),
          estimate.cost_usd === 0 ? "" : formatUsd(estimate.cost_usd),
        )}
      </p>
      <Places label={forecastWords.misfits} places={misfits} tone="bad" />
      <Places label={forecastWords.again} places={again} tone="wait" />
      <Places label={forecastWords.runs} places={runs.filter((place) => !again.includes(place))} tone="run" />
      <Places label={forecastWords.reused} places={reused} tone="idle" />
    </div>
  );
}

function Places({ label, places, tone }: { label: string; places: readonly string[]; tone: string }) {
  if (places.length === 0) return null;
  return (
    <section className={`places tone-${tone}`}>
      <h3>
        {label} <span className="quiet">{places.length}</span>
      </h3>
      <ul>
        {places.map((place) => (
          <UntrustedText key={place} as="li" className="mono" text={place} />
        ))}
      </ul>
    </section>
  );
}
