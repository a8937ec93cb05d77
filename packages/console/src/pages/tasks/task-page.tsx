import type { WholeTask } from "@nova/client";
import { type JSX, useEffect, useRef } from "react";
import { Link, useParams } from "wouter";
import { asRaw, toJsonText } from "../../json/raw.ts";
import { Icon, type IconName } from "../../parts/icon.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { Missing } from "../../parts/page.tsx";
import { Failure, isNotFound, Loading } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { Value } from "../../parts/value.tsx";
import { texts } from "../../texts.ts";
import { AnswerForm } from "./answer-form.tsx";
import { Remaining } from "./remaining.tsx";
import { useTask } from "./use-task.ts";
import "./task-page.css";

const words = texts.tasks;

/** One task: the question, its context, and the form for the answer. */
export function TaskPage(): JSX.Element {
  const { id } = useParams<{ id: string }>();
  const task = useTask(id);
  const { data, error } = task;
  if (isNotFound(error)) return <Missing words={words} to="/tasks" />;
  if (error && !data) return <Failure error={error} onRetry={() => void task.refetch()} />;
  if (!data) return <Loading />;
  return (
    <>
      <Head task={data} />
      <div className="task-page">
        <article className="task-card">
          <Asked task={data} />
          <Context task={data} />
          <Rest task={data} />
        </article>
      </div>
    </>
  );
}

/** The outcome of the task, or its form. */
function Rest({ task }: { task: WholeTask }): JSX.Element | null {
  if (task.status === "answered") return <Answered task={task} />;
  if (task.status === "expired") {
    return (
      <Became icon="clock" tone="idle" title={words.outcome.expired} hint={words.outcome.expiredHint} task={task} />
    );
  }
  return task.pattern === null ? <AnswerForm key={task.task_id} task={task} /> : null;
}

function Head({ task: { workflow, node, status, expires_at } }: { task: WholeTask }): JSX.Element {
  const tone = { open: "wait", answered: "ok", expired: "idle" }[status];
  return (
    <header className="page-head">
      <Link href="/tasks" className="icon-button" aria-label={words.back} title={words.back}>
        <Icon name="back" />
      </Link>
      <h1 className="task-title">
        {workflow} <span className="quiet">{node}</span>
      </h1>
      <span className={`badge task-badge tone-${tone}`}>{words.status[status]}</span>
      {status === "open" && (
        <span className="page-head-end">
          <Remaining until={expires_at} />
        </span>
      )}
    </header>
  );
}

function Asked({ task }: { task: WholeTask }): JSX.Element {
  const { message, pattern, node, created_at, to, mail, execution_id, client } = task;
  return (
    <header className="task-asked">
      <p className="task-message">
        <UntrustedText text={pattern === null ? message : words.eventOf(node)} />
      </p>
      <p className="task-facts quiet">
        <span>
          {words.since} <Time at={created_at} />
        </span>
        {client !== null && client !== "default" && <span>{client}</span>}
        {to.length > 0 && (
          <span>
            {words.to} <UntrustedText text={to.join(", ")} />
          </span>
        )}
        <Link href={`/runs/${execution_id}`} className="task-link">
          {words.open}
        </Link>
      </p>
      {mail && mail.problem !== null && (
        <p className="task-mail tone-bad">
          <UntrustedText text={words.mailTrouble(mail.problem)} />
        </p>
      )}
    </header>
  );
}

function Context({ task: { pattern, named, execution_id } }: { task: WholeTask }): JSX.Element | null {
  if (pattern !== null) {
    return (
      <section className="task-part">
        <h2>{words.pattern}</h2>
        <JsonView text={asRaw(pattern).text} open={4} />
        <p className="quiet">{words.emit}</p>
      </section>
    );
  }
  if (named === null) return <p className="task-part quiet">{words.contextErased}</p>;
  if (named.length === 0) return null;
  return (
    <section className="task-part">
      <h2>{words.context}</h2>
      <div className="task-values">
        {named.map(({ path, value }) => (
          <Value key={path} name={path} text={toJsonText(value)} home={{ execution: execution_id }} open={1} />
        ))}
      </div>
    </section>
  );
}

function Answered({ task }: { task: WholeTask }): JSX.Element {
  const { outcome, scope, seq, node } = task;
  if (outcome === null) {
    const { unknown, unknownHint, erased } = words.outcome;
    const hint = task.named === null ? erased : unknownHint;
    return <Became icon="check" tone="ok" title={unknown} hint={hint} task={task} />;
  }
  const { choice, by, data } = outcome;
  const { came, answered, event, data: sent } = words.outcome;
  const [title, name] = choice === null ? [came, event] : [answered(choice, by ?? ""), sent];
  const link = `?${new URLSearchParams({ node, link: `${scope}#${seq}` })}`;
  return (
    <Became icon="check" tone="ok" title={title} task={task} link={link}>
      {data !== null && (
        <div className="task-data">
          <Value name={name} text={toJsonText(data)} home={{ execution: task.execution_id }} open={3} />
        </div>
      )}
    </Became>
  );
}

interface BecameProps {
  icon: IconName;
  tone: string;
  title: string;
  hint?: string;
  task: WholeTask;
  link?: string;
  children?: JSX.Element | false;
}

/** Shows that the task needs no answer any more. */
function Became({ icon, tone, title, hint, task, link = "", children }: BecameProps): JSX.Element {
  const { execution_id, answered_at, expires_at } = task;
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    // The pressed button is gone, so the focus would be lost.
    if (document.activeElement === document.body) section.current?.focus();
  }, []);
  return (
    <section ref={section} tabIndex={-1} className={`task-part task-became tone-${tone}`} role="status">
      <h2>
        <Icon name={icon} />
        <UntrustedText text={title} />
      </h2>
      <p className="quiet">
        <Time at={answered_at ?? expires_at} />
      </p>
      {hint !== undefined && <p>{hint}</p>}
      {children}
      <Link href={`/runs/${execution_id}${link}`} className="button">
        {words.open}
      </Link>
    </section>
  );
}
