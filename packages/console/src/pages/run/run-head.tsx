import type { WholeExecution } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { Fragment, useState } from "react";
import { Link, useLocation } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useReload } from "../../api/queries.ts";
import { Button, CopyButton, useCopy } from "../../parts/button.tsx";
import { ConfirmButton, DialogButton, FormDialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { type Fact, Facts } from "../../parts/page.tsx";
import { ErrorNote, QueryView } from "../../parts/states.tsx";
import { StatusBadge } from "../../parts/status.tsx";
import { Duration, formatDuration, formatUsd, Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";

interface RunProps {
  run: WholeExecution;
}

export function RunHead({ run }: RunProps) {
  const { execution_id: id, workflow, version, status, started_at, duration_ms, spent, restarted_from, parent } = run;
  const words = texts.run;
  const facts: Fact[] = [
    [
      words.id,
      <Fragment key="id">
        <span className="mono">{id}</span> <CopyButton text={id} />
      </Fragment>,
    ],
    [words.started, <Time key="started" at={started_at} />],
    [words.duration, <Duration key="duration" from={started_at} ms={duration_ms} />],
    [words.cost, spent && formatUsd(spent.cost_usd)],
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
          {workflow} <span className="quiet">v{version}</span>
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

function RunLink({ id }: { id: string }) {
  return (
    <Link href={`/runs/${id}`} className="link mono">
      …{id.slice(-8)}
    </Link>
  );
}

/** Verifies the chain of work on request, because it reads every entry. */
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
          <DialogButton
            icon="check"
            label={words.asTest.title}
            dialog={(close) => <AsTestDialog id={id} onClose={close} />}
          />
          <DialogButton
            icon="restart"
            label={words.restart}
            dialog={(close) => <RestartDialog run={run} onClose={close} />}
          />
        </>
      )}
    </>
  );
}

interface RestartDialogProps extends RunProps {
  /** The place from which the run restarts; default: the start. */
  from?: string;
  onClose(): void;
}

/** Shows which nodes would run and which results are reused, and restarts after confirmation. */
export function RestartDialog({ run: { execution_id: id }, from, onClose }: RestartDialogProps) {
  const { executions } = useNova();
  const [, go] = useLocation();
  const place = from === undefined ? {} : { from };
  const forecast = useQuery({
    queryKey: ["forecast", id, from],
    gcTime: 0,
    queryFn: () => executions.restart(id, { ...place, dry_run: true }),
  });
  const { data } = forecast;
  const words = texts.run.forecast;
  return (
    <FormDialog
      title={from === undefined ? texts.run.restart : `${texts.run.restart}: ${from}`}
      action={texts.run.restart}
      isIncomplete={!data || data.misfits.length > 0}
      onSubmit={() => executions.restart(id, place).then(({ execution_id }) => go(`/runs/${execution_id}`))}
      onClose={onClose}
    >
      <QueryView query={forecast} lines={4}>
        {({ estimate, misfits, again, runs, reused }) => (
          <div className="stack loose">
            <p>{words.estimate(formatDuration(estimate.execution_time_ms), formatUsd(estimate.cost_usd))}</p>
            <Places label={words.misfits} places={misfits} tone="bad" />
            <Places label={words.again} places={again} tone="wait" />
            <Places label={words.runs} places={runs} tone="run" />
            <Places label={words.reused} places={reused} tone="idle" />
          </div>
        )}
      </QueryView>
    </FormDialog>
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

const namePattern = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** Shows the command that adds the run as a test. The page cannot write to the folder of the workflow. */
function AsTestDialog({ id, onClose }: { id: string; onClose(): void }) {
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
      onClose={onClose}
    >
      <p className="quiet">{words.hint}</p>
      <TextField label={words.name} value={name} error={isName ? undefined : words.noName} onChange={setName} />
      <code className="command well">{command}</code>
    </FormDialog>
  );
}
