import { formatUsd, type WholeExecution } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { Fragment, useState } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useReload } from "../../api/queries.ts";
import { asRaw } from "../../json/raw.ts";
import { Button, CopyButton, useCopy } from "../../parts/button.tsx";
import { ConfirmButton, DialogButton, FormDialog, OpenDialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { useAddress } from "../../parts/filters.tsx";
import { Icon } from "../../parts/icon.tsx";
import { type Fact, Facts } from "../../parts/page.tsx";
import { ErrorNote, lazyComponent } from "../../parts/states.tsx";
import { StatusBadge } from "../../parts/status.tsx";
import { Duration, Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { WorkflowName } from "../../parts/workflow-name.tsx";
import { texts } from "../../texts.ts";
import { RestartDialog } from "./restart-dialog.tsx";

const CompareDialog = lazyComponent(async () => (await import("./compare-dialog.tsx")).CompareDialog);
const ProofDialog = lazyComponent(async () => (await import("./proof-view.tsx")).ProofDialog);

interface RunProps {
  run: WholeExecution;
}

export function RunHead({ run }: RunProps) {
  const { execution_id: id, workflow, version, status, started_at, duration_ms, spent, restarted_from, parent } = run;
  const words = texts.run;
  const { columns } = texts.runs;
  const facts: Fact[] = [
    [
      columns.id,
      <Fragment key="id">
        <span className="mono" title={id}>
          …{id.slice(-8)}
        </span>{" "}
        <CopyButton text={id} />
      </Fragment>,
    ],
    [columns.client, run.client],
    [texts.runs.filters.trigger, run.trigger && <UntrustedText key="trigger" text={run.trigger} />],
    [words.starter, nameStarter(run)],
    [words.input, <InputLink key="input" id={id} />],
    ...Object.entries(run.labels ?? {}).map(
      ([name, value]): Fact => [name, <UntrustedText key={`label ${name}`} text={value} />],
    ),
    [columns.started, <Time key="started" at={started_at} />],
    [columns.duration, <Duration key="duration" from={started_at} ms={duration_ms} />],
    [words.cost, spent && spent.cost_usd > 0 && formatUsd(spent.cost_usd)],
    [words.restartedFrom, restarted_from && <RunLink id={restarted_from} />],
    ...run.restarts.map((one): Fact => [words.restartedAs, <RunLink key={one} id={one} />]),
    [words.runBy, parent && <RunLink id={parent.execution_id} />],
  ];
  return (
    <header className="run-top bar">
      <div className="run-title line">
        <Link href="/" className="icon-button" aria-label={words.back} title={words.back}>
          <Icon name="back" />
        </Link>
        <h1>
          <WorkflowName id={workflow} /> <span className="quiet">v{version}</span>
        </h1>
        <StatusBadge status={status} />
        <span className="actions">
          <RunActions run={run} />
        </span>
      </div>
      <div className="run-facts line small">
        <Facts facts={facts} />
        <HashBadge run={run} />
      </div>
    </header>
  );
}

/**
 * Returns the name of the person who started the run. If a trigger or another run started it, the page shows this
 * separately.
 */
function nameStarter({ started_by, trigger, parent }: WholeExecution) {
  if (started_by !== null) return <UntrustedText text={started_by} />;
  return trigger === null && parent === null && texts.run.byKey;
}

/** Shows the input of the run as a link to the entry of the start node. */
function InputLink({ id }: { id: string }) {
  const nova = useNova();
  const { data } = useQuery({
    queryKey: ["input", id],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn() {
      const params = { path: { id, seq: 0 }, query: { full: "true", references: "true" } as const };
      return nova.ask(nova.api.GET("/executions/{id}/chain/{seq}", { params }));
    },
  });
  if (!data?.output_result) return null;
  const { text } = asRaw(data.output_result);
  return (
    <Link
      href={`/runs/${id}?${new URLSearchParams({ node: data.node_id, tab: "output" })}`}
      className="link mono input-link"
    >
      <UntrustedText text={text.length > longestInput ? `${text.slice(0, longestInput)}…` : text} />
    </Link>
  );
}

const longestInput = 60;

function RunLink({ id }: { id: string }) {
  return (
    <Link href={`/runs/${id}`} className="link mono">
      …{id.slice(-8)}
    </Link>
  );
}

/**
 * A button that verifies the chain of work. The page verifies the chain only on request, because the check reads every
 * entry.
 */
function HashBadge({ run: { execution_id: id, status } }: RunProps) {
  const nova = useNova();
  const words = texts.run.verify;
  const check = useQuery({
    queryKey: ["verify", id, status],
    enabled: false,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => ({ result: await nova.executions.verify(id), at: new Date().toISOString() }),
  });
  const { result, at } = check.data ?? {};
  const problem = result?.problem;
  const tone = !result ? "idle" : problem ? "bad" : "ok";
  return (
    <div className={`row tone-${tone}`}>
      <button type="button" className="badge" disabled={check.isFetching} onClick={() => void check.refetch()}>
        <Icon name="shield" size={12} />
        {check.isFetching ? words.checking : result ? words[result.state](result.links) : words.idle}
      </button>
      {at && (
        <span className="quiet">
          <Time at={at} />
        </span>
      )}
      {problem && (
        <span className="bad" role="alert">
          {words.place(problem.seq, problem.scope ?? "")}: <UntrustedText text={problem.message} />
        </span>
      )}
      <ErrorNote error={check.error} />
    </div>
  );
}

function RunActions({ run }: RunProps) {
  const { execution_id: id, state_machine_pages: pages } = run;
  const { executions } = useNova();
  const reload = useReload();
  const { isCopied, copy } = useCopy();
  const words = texts.run;
  return (
    <>
      {pages.map((page, index) => (
        <a key={page} className="button" href={page} target="_blank" rel="noreferrer">
          <Icon name="flow" size={14} />
          {words.stateMachine(index)}
        </a>
      ))}
      <CopyButton icon="link" label={words.copyLink} text={() => location.href} />
      <DialogButton icon="shield" label={words.proof.show} dialog={<ProofDialog run={run} />} />
      <Compare run={run} />
      <Button icon={isCopied ? "check" : "copy"} onClick={() => copy(`nova pull ${id}`)}>
        {isCopied ? texts.common.copied : words.pull}
      </Button>
      {run.ended_at === null ? (
        <ConfirmButton
          icon="stop"
          tone="danger"
          label={words.cancel}
          title={texts.runs.confirmCancel(1)}
          hint={texts.runs.confirmCancelHint}
          onConfirm={() => executions.cancel(id).then(() => reload(["run", id]))}
        />
      ) : (
        <>
          <DialogButton icon="check" label={words.asTest.title} dialog={<AsTestDialog id={id} />} />
          <DialogButton icon="restart" label={words.restart} dialog={<RestartDialog run={run} />} />
        </>
      )}
    </>
  );
}

/**
 * A button that compares the run with another run. The address contains the id of the other run, so that a copied
 * address shows the same comparison.
 */
function Compare({ run }: RunProps) {
  const [{ compare }, change] = useAddress(["compare"]);
  const choose = (other: string) => change({ compare: other === "" ? "choose" : other });
  return (
    <>
      <Button icon="change" onClick={() => choose(run.restarted_from ?? "")}>
        {texts.run.compare.action}
      </Button>
      {compare !== undefined && (
        <OpenDialog value={() => change({ compare: undefined })}>
          <CompareDialog run={run} other={compare === "choose" ? undefined : compare} onChoose={choose} />
        </OpenDialog>
      )}
    </>
  );
}

const namePattern = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** Shows the command that adds the run as a test. The page cannot write to the folder of the workflow. */
function AsTestDialog({ id }: { id: string }) {
  const [name, setName] = useState(id.slice(-6).toLowerCase());
  const { isCopied, copy } = useCopy();
  const isName = namePattern.test(name);
  const command = `nova test add ${id} --name ${isName ? name : "…"}`;
  const words = texts.run.asTest;
  return (
    <FormDialog
      title={words.title}
      action={isCopied ? texts.common.copied : words.copy}
      isIncomplete={!isName}
      staysOpen
      onSubmit={() => copy(command)}
    >
      <p className="quiet">{words.hint}</p>
      <TextField label={words.name} value={name} error={isName ? undefined : words.noName} onChange={setName} />
      <code className="command well">{command}</code>
    </FormDialog>
  );
}
