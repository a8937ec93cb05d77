import type { WholeExecution } from "@nova/client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type JSX, useState } from "react";
import { useLocation } from "wouter";
import { useNova } from "../../api/nova.ts";
import { Button, useCopy } from "../../parts/button.tsx";
import { ConfirmDialog, Dialog, FormDialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { ErrorNote, Failure, Loading } from "../../parts/states.tsx";
import { formatDuration, formatUsd } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import "./run-head.css";

/** Actions of a run: cancel, restart, add as test, copy the pull command, open Step Functions. */
export function RunActions({ run }: { run: WholeExecution }): JSX.Element {
  const [dialog, setDialog] = useState<"cancel" | "restart" | "test">();
  const { isCopied, copy } = useCopy();
  const isOver = run.ended_at !== null;
  return (
    <>
      {run.state_machine_pages.map((page, index) => (
        <a key={page} className="button" href={page} target="_blank" rel="noreferrer">
          <Icon name="flow" size={14} />
          {texts.run.stateMachine(index)}
        </a>
      ))}
      <Button icon={isCopied ? "check" : "copy"} onClick={() => copy(`nova pull ${run.execution_id}`)}>
        {isCopied ? texts.common.copied : texts.run.pull}
      </Button>
      {isOver && (
        <Button icon="check" onClick={() => setDialog("test")}>
          {texts.run.asTest.title}
        </Button>
      )}
      {isOver ? (
        <Button icon="restart" onClick={() => setDialog("restart")}>
          {texts.run.restart}
        </Button>
      ) : (
        <Button icon="stop" tone="danger" onClick={() => setDialog("cancel")}>
          {texts.run.cancel}
        </Button>
      )}
      {dialog === "cancel" && <CancelDialog run={run} onClose={() => setDialog(undefined)} />}
      {dialog === "restart" && <RestartDialog run={run} onClose={() => setDialog(undefined)} />}
      {dialog === "test" && <AsTestDialog run={run} onClose={() => setDialog(undefined)} />}
    </>
  );
}

function CancelDialog({ run: { execution_id: id }, onClose }: { run: WholeExecution; onClose(): void }): JSX.Element {
  const nova = useNova();
  const queries = useQueryClient();
  const cancel = async () => {
    await nova.executions.cancel(id);
    await queries.invalidateQueries({ queryKey: ["run", id] });
  };
  return (
    <ConfirmDialog title={texts.runs.confirmCancel(1)} action={texts.run.cancel} onConfirm={cancel} onClose={onClose}>
      <p className="quiet">{texts.runs.confirmCancelHint}</p>
    </ConfirmDialog>
  );
}

/** Shows which nodes would run and which results are reused, and restarts after confirmation. */
export function RestartDialog({
  run,
  from,
  onClose,
}: {
  run: WholeExecution;
  from?: string;
  onClose(): void;
}): JSX.Element {
  const nova = useNova();
  const [, go] = useLocation();
  const place = from === undefined ? {} : { from };
  const forecast = useQuery({
    queryKey: ["forecast", run.execution_id, from],
    gcTime: 0,
    queryFn: () => nova.executions.restart(run.execution_id, { ...place, dry_run: true }),
  });
  const restart = useMutation({
    mutationFn: () => nova.executions.restart(run.execution_id, place),
    onSuccess: ({ execution_id }) => go(`/runs/${execution_id}`),
  });
  const { data: forecastData } = forecast;
  const isRefused = !forecastData || forecastData.misfits.length > 0;
  return (
    <Dialog
      title={from === undefined ? texts.run.restart : `${texts.run.restart}: ${from}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{texts.common.cancel}</Button>
          <Button tone="main" disabled={isRefused || restart.isPending} onClick={() => restart.mutate()}>
            {texts.run.restart}
          </Button>
        </>
      }
    >
      {forecast.isPending && <Loading lines={4} />}
      {forecast.error && <Failure error={forecast.error} onRetry={() => void forecast.refetch()} />}
      {forecastData && (
        <div className="forecast">
          <p>
            {texts.run.forecast.estimate(
              formatDuration(forecastData.estimate.execution_time_ms),
              formatUsd(forecastData.estimate.cost_usd),
            )}
          </p>
          <Places label={texts.run.forecast.misfits} places={forecastData.misfits} tone="bad" />
          <Places label={texts.run.forecast.again} places={forecastData.again} tone="wait" />
          <Places label={texts.run.forecast.runs} places={forecastData.runs} tone="run" />
          <Places label={texts.run.forecast.reused} places={forecastData.reused} tone="idle" />
        </div>
      )}
      <ErrorNote error={restart.error} />
    </Dialog>
  );
}

function Places({
  label,
  places,
  tone,
}: {
  label: string;
  places: readonly string[];
  tone: string;
}): JSX.Element | null {
  if (places.length === 0) return null;
  return (
    <section className={`places tone-${tone}`}>
      <h3>
        {label} <span className="quiet">{places.length}</span>
      </h3>
      <ul>
        {places.map((place) => (
          <li key={place} className="mono">
            <UntrustedText text={place} />
          </li>
        ))}
      </ul>
    </section>
  );
}

const words = texts.run.asTest;
const namePattern = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** Shows the command that adds the run as a test. The page cannot write to the folder of the workflow. */
export function AsTestDialog({ run, onClose }: { run: WholeExecution; onClose(): void }): JSX.Element {
  const [name, setName] = useState(run.execution_id.slice(-6).toLowerCase());
  const { isCopied, copy } = useCopy();
  const isName = namePattern.test(name);
  const command = `nova test add ${run.execution_id} --name ${isName ? name : "…"}`;
  return (
    <FormDialog
      title={words.title}
      action={isCopied ? texts.common.copied : words.copy}
      isPending={!isName}
      error={null}
      onSubmit={() => copy(command)}
      onClose={onClose}
    >
      <p className="quiet">{words.hint}</p>
      <TextField label={words.name} value={name} error={isName ? undefined : words.noName} onChange={setName} />
      <code className="command">{command}</code>
    </FormDialog>
  );
}
