import type { Task, WholeTask } from "@nova/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type MouseEvent, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { useNova } from "../../api/nova.ts";
import { describeCount, usePages, useReload } from "../../api/queries.ts";
import { asRaw, listMembers, Raw, toJsonText } from "../../json/raw.ts";
import { Button } from "../../parts/button.tsx";
import { Segments } from "../../parts/field.tsx";
import { FilterBar, toChoices, useAddress } from "../../parts/filters.tsx";
import {
  allowsMoreKeys,
  createDrafts,
  type Draft,
  type Field,
  findProblems,
  type Problems,
  parseFields,
  renderMembers,
} from "../../parts/form/form.ts";
import { FormFields, focusFirstBad } from "../../parts/form/form-fields.tsx";
import { Icon } from "../../parts/icon.tsx";
import { JsonView } from "../../parts/json-view.tsx";
import { useRowKeys } from "../../parts/keyboard.tsx";
import { LiveMark, PageHead } from "../../parts/page.tsx";
import { ErrorNote, ListView, LoadMore, QueryView } from "../../parts/states.tsx";
import { Badge } from "../../parts/status.tsx";
import { formatDuration, Time, useNow } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { Value } from "../../parts/value.tsx";
import { texts } from "../../texts.ts";

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
  const listValues = (name: "workflow" | "client") => toChoices([...new Set(all.flatMap((task) => task[name] ?? []))]);
  const { empty, emptyHint, none, noneHint } = words;
  return (
    <>
      <PageHead title={words.title} note={describeCount(query, tasks.length, words.count)} end={<LiveMark />} />
      <FilterBar
        filters={filters}
        change={change}
        choices={[
          ["workflow", words.filters.workflow, listValues("workflow")],
          ["client", words.filters.client, listValues("client")],
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
            {workflow} · {node}
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

/** The remaining time turns red below this limit. */
const soonMs = 3_600_000;

function Remaining({ until }: { until: string }) {
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

/**
 * One task: the question, its context, and the form for the answer. An open task is polled because others may answer it,
 * and an answered task until its entry is recorded.
 */
export function TaskPage() {
  const { id = "" } = useParams<{ id: string }>();
  const nova = useNova();
  const query = useQuery({
    queryKey: ["task", id],
    queryFn: () => nova.tasks.get(id),
    refetchInterval({ state: { data } }) {
      const isUnrecorded = data?.status === "answered" && data.outcome === null && data.named !== null;
      return data?.status === "open" || isUnrecorded ? taskPauseMs : false;
    },
  });
  return (
    <QueryView query={query} missing={{ words, to: "/tasks" }}>
      {(task) => (
        <>
          <Head task={task} />
          <div className="task-page">
            <article className="card task-card">
              <Question task={task} />
              <Context task={task} />
              <Rest task={task} />
            </article>
          </div>
        </>
      )}
    </QueryView>
  );
}

function Rest({ task }: { task: WholeTask }) {
  if (task.status === "answered") return <Answered task={task} />;
  const { expired, expiredHint } = words.outcome;
  if (task.status === "expired") return <Outcome title={expired} hint={expiredHint} task={task} />;
  return task.pattern === null ? <AnswerForm key={task.task_id} task={task} /> : null;
}

function Head({ task: { workflow, node, status, expires_at } }: { task: WholeTask }) {
  const tone = { open: "wait", answered: "ok", expired: "idle" }[status];
  const title = (
    <>
      {workflow} <span className="quiet wide">{node}</span>
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

function Question({ task }: { task: WholeTask }) {
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
        <Link href={`/runs/${execution_id}`} className="link in-text">
          {words.open}
        </Link>
      </p>
      {mail && mail.problem !== null && (
        <UntrustedText as="p" className="toned small tone-bad" text={words.mailTrouble(mail.problem)} />
      )}
    </header>
  );
}

function Context({ task: { pattern, named, execution_id } }: { task: WholeTask }) {
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
    // The pressed button is gone, so the focus would be lost.
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
        {words.open}
      </Link>
    </section>
  );
}

const nameStorageKey = "nova-answers-as";
const noProblems: Problems = new Map();

/** The input of one form. Choices that share a form share its input. */
interface FormState {
  fields: readonly Field[];
  drafts: readonly Draft[];
  hasRoom: boolean;
  comment: string;
}

/**
 * The form that answers a task. If the form of a choice is visible, pressing the choice sends the answer. If not,
 * pressing it shows the form.
 */
function AnswerForm({ task }: { task: Task }) {
  const nova = useNova();
  const reload = useReload();
  const [choice, setChoice] = useState<string>();
  const [by, setBy] = useState(() => localStorage.getItem(nameStorageKey) ?? "");
  const [isChecked, setChecked] = useState(false);
  const [sheets, setSheets] = useState<ReadonlyMap<string, FormState>>(new Map());
  const form = useRef<HTMLFormElement>(null);
  const visibleForm = chooseForm(task, choice);
  const sheet = useMemo(() => sheets.get(visibleForm ?? "") ?? createFormState(visibleForm), [sheets, visibleForm]);
  const problems = useMemo(() => findProblems(sheet.fields, sheet.drafts), [sheet]);
  const fill = (changes: Partial<FormState>) =>
    setSheets(new Map(sheets).set(visibleForm ?? "", { ...sheet, ...changes }));
  const answer = useMutation({
    mutationFn(newChoice: string) {
      const data = addComment(renderMembers(sheet.fields, sheet.drafts), sheet.comment);
      return nova.tasks.answer(task.task_id, { choice: newChoice, ...(data && { data }), ...(by !== "" && { by }) });
    },
    async onSuccess() {
      if (by === "") localStorage.removeItem(nameStorageKey);
      else localStorage.setItem(nameStorageKey, by);
      await reload(["/tasks"]);
    },
    // If another user answered first, the page shows that answer.
    onSettled: () => reload(["task", task.task_id]),
  });
  const choose = (event: MouseEvent, newChoice: string) => {
    const isOther = chooseForm(task, newChoice) !== visibleForm;
    setChoice(newChoice);
    answer.reset();
    if (isOther) return setChecked(false);
    // Ignores the second press of a double click, which was aimed at the content before the first press.
    if (event.detail > 1) return;
    setChecked(true);
    if (problems.size > 0) return focusFirstBad(form.current);
    answer.mutate(newChoice);
  };
  return (
    <form ref={form} onSubmit={(event) => event.preventDefault()} aria-label={words.form}>
      {visibleForm !== noForm && (
        <div className="stack loose">
          <FormFields
            fields={sheet.fields}
            drafts={sheet.drafts}
            id={`${task.task_id}-`}
            problems={isChecked ? problems : noProblems}
            onChange={(drafts) => fill({ drafts })}
          />
          {sheet.hasRoom && (
            <OptionalField id="task-comment" label={words.comment}>
              <textarea
                id="task-comment"
                className="input"
                rows={2}
                value={sheet.comment}
                onChange={(event) => fill({ comment: event.target.value })}
              />
            </OptionalField>
          )}
          <OptionalField id="task-by" label={words.by} hint={words.byHint}>
            <input
              id="task-by"
              className="input"
              type="text"
              autoComplete="name"
              maxLength={200}
              aria-describedby="task-by-about"
              value={by}
              onChange={(event) => setBy(event.target.value)}
            />
          </OptionalField>
        </div>
      )}
      <div className="task-bar stack">
        {isChecked && problems.size > 0 && <p className="field-error">{words.fix(problems.size)}</p>}
        <ErrorNote error={answer.error} />
        <fieldset
          className="task-choices row"
          aria-label={words.choices}
          disabled={answer.isPending || answer.isSuccess}
        >
          {task.choices.map((one) => (
            <button
              key={one}
              type="button"
              className={`button task-choice ${one === choice || task.choices.length === 1 ? "button-main" : ""}`}
              aria-pressed={one === choice}
              onClick={(event) => choose(event, one)}
            >
              <UntrustedText
                text={formatChoice(one, choice, visibleForm !== noForm && task.forms !== null, answer.isPending)}
              />
            </button>
          ))}
        </fieldset>
      </div>
    </form>
  );
}

/** Stands for the state before a choice, in which no form is visible. */
const noForm = "choose first";

/** Returns the visible form: the one of the choice, or the one that all choices share. */
function chooseForm(task: Task, choice: string | undefined): string | undefined {
  return choice === undefined && task.forms !== null ? noForm : findForm(task, choice);
}

function formatChoice(one: string, choice: string | undefined, isTwoSteps: boolean, isPending: boolean): string {
  if (one !== choice) return one;
  if (isPending) return words.sending;
  return isTwoSteps ? words.send(one) : one;
}

function createFormState(form: string | undefined): FormState {
  if (form === noForm) return { fields: [], drafts: [], hasRoom: false, comment: "" };
  const fields = form === undefined ? [] : parseFields(form);
  const hasRoom = (form === undefined || allowsMoreKeys(form)) && !fields.some(({ key }) => key === "comment");
  return { fields, drafts: createDrafts(fields), hasRoom, comment: "" };
}

interface OptionalFieldProps {
  id: string;
  label: string;
  hint?: string;
  /** The input, with `id` as its id. */
  children: ReactNode;
}

function OptionalField({ id, label, hint, children }: OptionalFieldProps) {
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        <span className="faint small">{texts.form.optional}</span>
      </label>
      {children}
      {hint && (
        <p id={`${id}-about`} className="field-hint">
          {hint}
        </p>
      )}
    </div>
  );
}

/** Builds the data of an answer from the members of its form. A comment is added as the member `comment`. */
function addComment(members: readonly string[], comment: string): Raw | undefined {
  const all = comment === "" ? members : [...members, `"comment":${JSON.stringify(comment)}`];
  return all.length === 0 ? undefined : new Raw(`{${all.join(",")}}`);
}

/** Finds the form of a choice. Choices without a form of their own share one. */
function findForm({ form, forms }: Task, choice: string | undefined): string | undefined {
  const choiceForm =
    forms && choice !== undefined ? listMembers(asRaw(forms).text).find(({ key }) => key === choice) : undefined;
  return choiceForm?.text ?? (form ? asRaw(form).text : undefined);
}
