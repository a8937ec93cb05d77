import { type Execution, findFailedLine } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { Link } from "wouter";
import { useNova, workConcurrently } from "../../api/nova.ts";
import { useReload, useWorkflowChoices } from "../../api/queries.ts";
import { ConfirmButton } from "../../parts/dialog.tsx";
import { FilterBar, useAddress } from "../../parts/filters.tsx";
import { LiveMark, PageHead } from "../../parts/page.tsx";
import { ListView } from "../../parts/states.tsx";
import { Badge } from "../../parts/status.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { WorkflowName } from "../../parts/workflow-name.tsx";
import { texts } from "../../texts.ts";
import { listEntries } from "../run/run-model.ts";
import { rangesMs, requestForRuns } from "../runs/use-runs.ts";
import { type FailureGroup, groupFailures } from "./failure-groups.ts";

const words = texts.failures;
const pauseMs = 10_000;
const pageSize = 200;
/** Maximum number of failed runs that the page reads. Of a period with more failed runs, the page shows the newest. */
const maxRead = 1_000;
type Range = keyof typeof rangesMs;

/** The failures of a period, grouped by their cause. */
export function FailuresPage() {
  const [filters, change] = useAddress(["workflow", "range"]);
  const range = (Object.keys(rangesMs) as Range[]).find((one) => one === filters.range) ?? "7d";
  const query = useFailures(filters.workflow, range);
  const workflows = useWorkflowChoices();
  return (
    <>
      <PageHead title={texts.nav.failures} note={query.data && words.count(query.data.length)} end={<LiveMark />} />
      <FilterBar
        filters={filters}
        change={change}
        choices={[
          ["workflow", texts.runs.columns.workflow, workflows],
          ["range", texts.runs.filters.time, Object.entries(texts.runs.times), texts.runs.times["7d"]],
        ]}
      />
      <ListView query={query} icon="check" words={words}>
        {(groups) => (
          <div className="page-body">
            <div className="card">
              <Table label={texts.nav.failures} items={groups} keyOf={({ key }) => key} columns={columns} />
            </div>
          </div>
        )}
      </ListView>
    </>
  );
}

function useFailures(workflow: string | undefined, range: Range) {
  const nova = useNova();
  return useQuery({
    queryKey: ["runs", "failures", workflow, range],
    refetchInterval: pauseMs,
    async queryFn() {
      const from = new Date(Date.now() - rangesMs[range]).toISOString();
      const query = { from, limit: pageSize, ...(workflow !== undefined && { workflow }) };
      const failed: Execution[] = [];
      for await (const run of nova.executions.list({ ...query, status: "failed" })) {
        failed.push(run);
        if (failed.length >= maxRead) break;
      }
      return groupFailures(failed, await readFirstVersions(failed, query));
    },
  });

  /** Returns, by workflow, the oldest version among the workflow's newest runs in the period. */
  async function readFirstVersions(failed: readonly Execution[], query: { from: string }) {
    const versions = new Map<string, number>();
    await workConcurrently([...new Set(failed.map((run) => run.workflow))], async (id) => {
      const params = { query: { ...query, workflow: id, limit: pageSize } };
      const { items } = await nova.ask(nova.api.GET("/executions", { params }));
      versions.set(id, Math.min(...items.map(({ version }) => version)));
    });
    return versions;
  }
}

const { columns: labels } = words;

const columns: readonly Column<FailureGroup>[] = [
  [labels.error, (group) => <Cause group={group} />],
  [texts.costs.columns.runs, (group) => <RunsLink group={group} />, "fixed number"],
  [labels.first, ({ runs }) => <Time at={runs.at(-1)?.started_at ?? ""} />, "fixed wide quiet"],
  [labels.last, ({ runs }) => <Time at={runs[0]?.started_at ?? ""} />, "fixed wide quiet"],
  [labels.versions, (group) => <Versions group={group} />, "fixed wide"],
  [labels.actions, (group) => <RestartGroup group={group} />, "sheet-end"],
];

function Cause({ group: { workflow, node, class: name, message, runs } }: { group: FailureGroup }) {
  const line = useLine(runs[0]);
  return (
    <>
      <span className="line break">
        <Link href={`/runs/${runs[0]?.execution_id}`}>
          <UntrustedText text={message} />
        </Link>
      </span>
      <span className="quiet small">
        <WorkflowName id={workflow} /> · <UntrustedText text={node} />
        {line === undefined ? "" : ` · ${texts.writer.line(line)}`} · {name}
      </span>
    </>
  );
}

/** Returns the number of the line at which the code of a run failed, from the traceback of the failed entry. */
function useLine(run: Execution | undefined): number | undefined {
  const nova = useNova();
  const { data } = useQuery({
    queryKey: ["failed line", run?.execution_id],
    enabled: run !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    async queryFn() {
      const entries = await Array.fromAsync(nova.executions.chain(run?.execution_id ?? "", { limit: pageSize }));
      const failed = listEntries(entries).findLast(
        ({ node_id, status }) => status === "failed" && node_id === run?.error?.node,
      );
      return findFailedLine(failed?.traceback ?? null);
    },
  });
  return data ?? undefined;
}

function RunsLink({ group: { workflow, class: name, runs } }: { group: FailureGroup }) {
  const query = new URLSearchParams({ workflow, status: "failed", error: name });
  return <Link href={`/?${query}`}>{runs.length.toLocaleString("en")}</Link>;
}

function Versions({ group: { versions, newSince } }: { group: FailureGroup }) {
  return (
    <span className="row tight">
      <span className="quiet">{versions.map((version) => `v${version}`).join(", ")}</span>
      {newSince !== undefined && <Badge tone="bad" text={words.newSince(newSince)} />}
    </span>
  );
}

/** A button that restarts all runs of a group that were not restarted before. */
function RestartGroup({ group: { restartable, runs } }: { group: FailureGroup }) {
  const { executions } = useNova();
  const reload = useReload();
  const [problem, setProblem] = useState<string>();
  const skipped = runs.length - restartable.length;
  const hint = useMemo(
    () => [texts.runs.confirmRestartHint, ...(skipped > 0 ? [texts.runs.skipped(skipped)] : [])].join(" "),
    [skipped],
  );
  const restart = async () => {
    const ids = restartable.map(({ execution_id }) => execution_id);
    const [refusal] = await requestForRuns(ids, (id) => executions.restart(id));
    setProblem(refusal?.reason);
    await reload(["runs"]);
  };
  return (
    <>
      <ConfirmButton
        icon="restart"
        label={words.restart(restartable.length)}
        action={texts.runs.restart}
        disabled={restartable.length === 0}
        title={texts.runs.confirmRestart(restartable.length)}
        hint={hint}
        onConfirm={restart}
      />
      {problem !== undefined && <UntrustedText as="p" className="bad small" text={problem} />}
    </>
  );
}
