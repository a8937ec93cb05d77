import type { Task } from "@nova/client";
import type { ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { describeCount, usePages } from "../../api/queries.ts";
import { useAddress } from "../../parts/address.ts";
import { Button } from "../../parts/button.tsx";
import { Segments } from "../../parts/field.tsx";
import { FilterBar, toChoices } from "../../parts/filters.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useRowKeys } from "../../parts/keyboard.tsx";
import { LiveMark, PageHead } from "../../parts/page.tsx";
import { ListView, LoadMore } from "../../parts/states.tsx";
import { formatDuration, Time, useNow } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import "./task-page.css";
import "./tasks-page.css";

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
      <span className="task-icon tone-wait">
        <Icon name={isEvent ? "clock" : "person"} />
      </span>
      <div className="task-row-text">
        <Link href={`/tasks/${id}`} className="task-row-message">
          <UntrustedText text={isEvent ? words.eventOf(node) : message} />
        </Link>
        <p className="task-row-facts quiet">
          <span>
            {workflow} · {node}
          </span>
          {client !== null && client !== "default" && <span>{client}</span>}
          <span>
            {words.since} <Time at={created_at} />
          </span>
          {to.length > 0 && (
            <span className="task-row-to">
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

export function Remaining({ until }: { until: string }) {
  const ms = Date.parse(until) - useNow();
  return (
    <span className={`remaining ${ms < soonMs ? "tone-bad" : "tone-idle"}`}>
      <b>{formatDuration(Math.max(0, ms))}</b>
      <span>
        {texts.tasks.until} <Time at={until} />
      </span>
    </span>
  );
}
