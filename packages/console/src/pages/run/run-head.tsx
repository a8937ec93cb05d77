import type { WholeExecution } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import type { JSX, ReactNode } from "react";
import { Link } from "wouter";
import { useNova } from "../../api/nova.ts";
import { CopyButton } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { ErrorNote } from "../../parts/states.tsx";
import { StatusBadge } from "../../parts/status.tsx";
import { Duration, formatUsd, Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import "./run-head.css";

/** The facts, the status and the actions of a run. */
export function RunHead({ run, actions }: { run: WholeExecution; actions: ReactNode }): JSX.Element {
  const {
    execution_id: id,
    workflow,
    version,
    status,
    started_at,
    duration_ms,
    spent,
    restarted_from,
    restarts,
    parent,
  } = run;
  return (
    <header className="run-top">
      <div className="run-title">
        <Link href="/" className="icon-button" aria-label={texts.run.back} title={texts.run.back}>
          <Icon name="back" />
        </Link>
        <h1>
          {workflow} <span className="quiet">v{version}</span>
        </h1>
        <StatusBadge status={status} />
        <span className="page-head-end">{actions}</span>
      </div>
      <div className="run-facts">
        <dl>
          <Fact label={texts.run.id}>
            <span className="mono">{id}</span> <CopyButton text={id} />
          </Fact>
          <Fact label={texts.run.started}>
            <Time at={started_at} />
          </Fact>
          <Fact label={texts.run.duration}>
            <Duration from={started_at} ms={duration_ms} />
          </Fact>
          {spent && <Fact label={texts.run.cost}>{formatUsd(spent.cost_usd)}</Fact>}
          {restarted_from && <Other label={texts.run.restartedFrom} id={restarted_from} />}
          {restarts.map((one) => (
            <Other key={one} label={texts.run.restartedAs} id={one} />
          ))}
          {parent && <Other label={texts.run.runBy} id={parent.execution_id} />}
        </dl>
        <HashBadge run={run} />
      </div>
    </header>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }): JSX.Element {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Other({ label, id }: { label: string; id: string }): JSX.Element {
  return (
    <Fact label={label}>
      <Link href={`/runs/${id}`} className="link mono">
        …{id.slice(-8)}
      </Link>
    </Fact>
  );
}

/** Verifies the chain of work on request, because it reads every entry. */
export function HashBadge({ run: { execution_id: id, status } }: { run: WholeExecution }): JSX.Element {
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
    <div className={`hash-badge tone-${tone}`}>
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
        <span className="hash-problem" role="alert">
          {words.place(problem.seq, problem.scope ?? "")}: <UntrustedText text={problem.message} />
        </span>
      )}
      <ErrorNote error={check.error} />
    </div>
  );
}
