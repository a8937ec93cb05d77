import { formatDuration, type Task, type WholeTask } from "@nova/client";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useRef } from "react";
import { Link, useLocation, useParams } from "wouter";
import { useIsByLink, useNova } from "../../api/nova.ts";
import { describeCount, usePages, useWorkflowName } from "../../api/queries.ts";
import { asRaw, toJsonText } from "../../json/raw.ts";
import { Button } from "../../parts/button.tsx";
import { Segments } from "../../parts/field.tsx";
import { FilterBar, toChoices, useAddress } from "../../parts/filters.tsx";
import { Icon } from "../../parts/icon.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { useRowKeys } from "../../parts/keyboard.tsx";
import { LiveMark, PageHead } from "../../parts/page.tsx";
import { ListView, LoadMore, QueryView } from "../../parts/states.tsx";
import { Badge } from "../../parts/status.tsx";
import { Time, useNow } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { Value } from "../../parts/value.tsx";
import { WorkflowName } from "../../parts/workflow-name.tsx";
import { texts } from "../../texts.ts";
import { AnswerForm } from "./answer-form.tsx";
import { VotingView } from "./voting-view.tsx";

const words = texts.tasks;
const kinds = ["approval", "event"] as const;
const pageSize = 100;
const pauseMs = 4_000;

type Kind = (typeof kinds)[number];

export function TasksPage() {
  const [filters, change] = useAddress(["kind", "workflow", "client"]);
  const kind: Kind = filters.kind === "event" ? "event" : "approval";
  const query = usePages("/tasks", { query: { kind, limit: pageSize } }, { refetchInterval: pauseMs });
  const all = query.data ?? [];
  const tasks = all.filter(
    ({ workflow, client }) =>
      (filters.workflow === undefined || workflow === filters.workflow) &&
      (filters.client === undefined || client === filters.client),
  );
  const nameOf = useWorkflowName();
  const listValues = (name: "workflow" | "client") => [...new Set(all.flatMap((task) => task[name] ?? []))];
  const { empty, emptyHint, none, noneHint } = words;
  return (
    <>
      <PageHead title={texts.nav.tasks} note={describeCount(query, tasks.length, words.count)} end={<LiveMark />} />
      <FilterBar
        filters={filters}
        change={change}
        choices={[
          ["workflow", words.filters.workflow, listValues("workflow").map((id) => [id, nameOf(id)])],
          ["client", words.filters.client, toChoices(listValues("client"))],
        ]}
      >
        <Segments
          label={words.kind}
          choices={kinds.map((one) => [one, words.kinds[one]] as const)}
          value={kind}
          onChange={(one) => change({ kind: one === "approval" ? undefined : one })}
        />
      </FilterBar>
      <ListView
        query={query}
        items={tasks}
        icon="task"
        words={{ empty: empty[kind], emptyHint: emptyHint[kind], none, noneHint }}
        noneContent={
          all.length > 0 && (
            <Button onClick={() => change({ workflow: undefined, client: undefined })}>{texts.runs.clear}</Button>
          )
        }
      >
        {() => (
          <TaskList tasks={tasks}>
            <LoadMore query={query} label={words.more} />
          </TaskList>
        )}
      </ListView>
    </>
  );
}

function TaskList({ tasks, children }: { tasks: readonly Task[]; children: ReactNode }) {
  const [, go] = useLocation();
  const at = useRowKeys(tasks.length, words.keys, (index) => go(`/tasks/${tasks[index]?.task_id}`));
  return (
    <div className="task-scroll">
      <ul className="task-list">
        {tasks.map((task, index) => (
          <TaskRow key={task.task_id} task={task} isAt={index === at} />
        ))}
      </ul>
      {children}
    </div>
  );
}

function TaskRow({ task, isAt }: { task: Task; isAt: boolean }) {
  const { task_id: id, message, workflow, node, client, created_at, to, pattern } = task;
  const isEvent = pattern !== null;
  return (
    <li className="task-row" data-at={isAt || undefined}>
      <span className="disc tone-wait">
        <Icon name={isEvent ? "clock" : "person"} />
      </span>
      <div className="fill">
        <Link href={`/tasks/${id}`}>
          <UntrustedText text={isEvent ? words.eventOf(node) : message} />
        </Link>
        <p className="line small quiet">
          <span>
            <WorkflowName id={workflow} /> · {node}
          </span>
          {client !== null && client !== "default" && <span>{client}</span>}
          <span>
            {words.since} <Time at={created_at} />
          </span>
          {to.length > 0 && (
            <span className="ellipsis">
              {words.to} <UntrustedText text={to.join(", ")} />
            </span>
          )}
        </p>
      </div>
      <Remaining until={task.expires_at} />
    </li>
  );
}

/** If fewer milliseconds than this remain, the page shows the remaining time in red. */
const soonMs = 3_600_000;

export function Remaining({ until }: { until: string }) {
  const ms = Date.parse(until) - useNow();
  return (
    <span className={`lines remaining small quiet ${ms < soonMs ? "tone-bad" : "tone-idle"}`}>
      <b>{formatDuration(Math.max(0, ms))}</b>
      <span className="wide">
        {texts.tasks.until} <Time at={until} />
      </span>
    </span>
  );
}

const taskPauseMs = 5_000;

/** Polls an open task, because other people may answer it. Polls an answered task until its entry is recorded. */
function useTask(id: string) {
  const nova = useNova();
  return useQuery({
    queryKey: ["task", id],
    queryFn: () => nova.tasks.get(id),
    refetchInterval({ state: { data } }) {
      const isUnrecorded = data?.status === "answered" && data.outcome === null && data.named !== null;
      return data?.status === "open" || isUnrecorded ? taskPauseMs : false;
    },
  });
}

export function TaskPage() {
  const { id = "" } = useParams<{ id: string }>();
  return (
    <QueryView query={useTask(id)} missing={{ words, to: "/tasks" }}>
      {(task) => (
        <>
          <Head task={task} />
          <div className="task-page">
            <TaskCard task={task} />
          </div>
        </>
      )}
    </QueryView>
  );
}

/** A task inside the page of its run. */
export function EmbeddedTask({ id }: { id: string }) {
  return <QueryView query={useTask(id)}>{(task) => <TaskCard task={task} isInRun />}</QueryView>;
}

/** The question, its context, and the form for the answer. */
function TaskCard({ task, isInRun = false }: { task: WholeTask; isInRun?: boolean }) {
  return (
    <article className="card task-card">
      <Question task={task} isInRun={isInRun} />
      <Context task={task} />
      <Rest task={task} />
    </article>
  );
}

function Rest({ task }: { task: WholeTask }) {
  if (task.status === "answered") return <Answered task={task} />;
  const { expired, expiredHint } = words.outcome;
  if (task.status === "expired") return <Outcome title={expired} hint={expiredHint} task={task} />;
  if (task.pattern !== null) return null;
  return (
    <>
      <VotingView task={task} />
      <AnswerForm key={task.task_id} task={task} />
    </>
  );
}

function Head({ task: { workflow, node, status, expires_at } }: { task: WholeTask }) {
  const tone = { open: "wait", answered: "ok", expired: "idle" }[status];
  const title = (
    <>
      <WorkflowName id={workflow} /> <span className="quiet wide">{node}</span>
    </>
  );
  return (
    <PageHead
      title={title}
      back={{ to: "/tasks", label: words.back }}
      className="task-head"
      end={status === "open" && <Remaining until={expires_at} />}
    >
      <Badge tone={tone} text={words.status[status]} />
    </PageHead>
  );
}

export function Question({ task, isInRun = false }: { task: WholeTask; isInRun?: boolean }) {
  const isByLink = useIsByLink();
  const { message, pattern, node, created_at, to, mail, execution_id, client } = task;
  return (
    <header>
      <UntrustedText as="p" className="task-message prose" text={pattern === null ? message : words.eventOf(node)} />
      <p className="line small quiet">
        <span>
          {words.since} <Time at={created_at} />
        </span>
        {client !== null && client !== "default" && <span>{client}</span>}
        {to.length > 0 && (
          <span>
            {words.to} <UntrustedText text={to.join(", ")} />
          </span>
        )}
        {!isByLink && !isInRun && (
          <Link href={`/runs/${execution_id}`} className="link in-text">
            {texts.run.open}
          </Link>
        )}
      </p>
      {mail && mail.problem !== null && (
        <UntrustedText as="p" className="toned small tone-bad" text={words.mailTrouble(mail.problem)} />
      )}
    </header>
  );
}

export function Context({ task: { pattern, named, execution_id } }: { task: WholeTask }) {
  if (pattern !== null) {
    return (
      <section>
        <h2 className="label">{words.pattern}</h2>
        <JsonView text={asRaw(pattern).text} open={4} />
        <p className="quiet">{words.emit}</p>
      </section>
    );
  }
  if (named === null) return <p className="quiet">{words.contextErased}</p>;
  if (named.length === 0) return null;
  return (
    <section>
      <h2 className="label">{words.context}</h2>
      <div className="task-values">
        {named.map(({ path, value }) => (
          <Value key={path} name={path} text={toJsonText(value)} home={{ execution: execution_id }} open={1} />
        ))}
      </div>
    </section>
  );
}

function Answered({ task }: { task: WholeTask }) {
  const { outcome, scope, seq, node } = task;
  if (outcome === null) {
    const { unknown, unknownHint, erased } = words.outcome;
    const hint = task.named === null ? erased : unknownHint;
    return <Outcome title={unknown} hint={hint} task={task} />;
  }
  const { choice, by, data } = outcome;
  const { came, answered, event, data: sent } = words.outcome;
  const [title, name] = choice === null ? [came, event] : [answered(choice, by ?? ""), sent];
  const link = `?${new URLSearchParams({ node, link: `${scope}#${seq}` })}`;
  return (
    <Outcome title={title} task={task} link={link}>
      {data !== null && (
        <div>
          <Value name={name} text={toJsonText(data)} home={{ execution: task.execution_id }} open={3} />
        </div>
      )}
    </Outcome>
  );
}

interface OutcomeProps {
  title: string;
  hint?: string;
  task: WholeTask;
  link?: string;
  children?: ReactNode;
}

/** Shows that the task needs no answer any more. */
function Outcome({ title, hint, task, link = "", children }: OutcomeProps) {
  const { execution_id, answered_at, expires_at, status } = task;
  const [icon, tone] = status === "expired" ? (["clock", "idle"] as const) : (["check", "ok"] as const);
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    // The pressed button has disappeared, so the focus would be lost.
    if (document.activeElement === document.body) section.current?.focus();
  }, []);
  return (
    <section ref={section} tabIndex={-1} className={`task-became stack start tone-${tone}`} role="status">
      <h2 className="row">
        <Icon name={icon} />
        <UntrustedText text={title} />
      </h2>
      <p className="quiet">
        <Time at={answered_at ?? expires_at} />
      </p>
      {hint !== undefined && <p>{hint}</p>}
      {children}
      <Link href={`/runs/${execution_id}${link}`} className="button">
        {texts.run.open}
      </Link>
    </section>
  );
}
