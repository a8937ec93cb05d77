import type { Task } from "@nova/client";
import type { JSX, ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { useNova } from "../../api/nova.ts";
import { usePages } from "../../api/queries.ts";
import { useAddress } from "../../parts/address.ts";
import { Button } from "../../parts/button.tsx";
import { Segments } from "../../parts/field.tsx";
import { FilterBar, FilterSelect, toChoices } from "../../parts/filters.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useRowKeys } from "../../parts/keyboard.tsx";
import { LiveMark, PageHead } from "../../parts/page.tsx";
import { Empty, LoadMore, QueryView } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { Remaining } from "./remaining.tsx";
import "./tasks-page.css";

const words = texts.tasks;
const kinds = ["approval", "event"] as const;
const pageSize = 100;
const pauseMs = 4_000;

type Kind = (typeof kinds)[number];

/** All open tasks, oldest first. */
export function TasksPage(): JSX.Element {
  const [filters, change] = useAddress(["kind", "workflow", "client"]);
  const kind: Kind = filters.kind === "event" ? "event" : "approval";
  const query = useTasks(kind);
  const all = query.data ?? [];
  const tasks = all.filter(
    ({ workflow, client }) =>
      (filters.workflow === undefined || workflow === filters.workflow) &&
      (filters.client === undefined || client === filters.client),
  );
  return (
    <>
      <PageHead title={words.title} end={<LiveMark />}>
        {query.data && <span className="quiet">{`${words.count(tasks.length)}${query.hasNextPage ? "+" : ""}`}</span>}
      </PageHead>
      <FilterBar>
        <Segments
          label={words.kind}
          choices={kinds.map((one) => [one, words.kinds[one]] as const)}
          value={kind}
          onChange={(one) => change({ kind: one === "approval" ? undefined : one })}
        />
        {(["workflow", "client"] as const).map((name) => (
          <FilterSelect
            key={name}
            label={words.filters[name]}
            value={filters[name]}
            values={toChoices([...new Set(all.flatMap((task) => task[name] ?? []))])}
            onChange={(value) => change({ [name]: value })}
          />
        ))}
      </FilterBar>
      <QueryView query={query}>
        {() =>
          tasks.length > 0 ? (
            <TaskList tasks={tasks}>
              <LoadMore query={query} label={words.more} />
            </TaskList>
          ) : all.length > 0 ? (
            <Empty icon="search" title={words.none} hint={words.noneHint}>
              <Button onClick={() => change({ workflow: undefined, client: undefined })}>{texts.runs.clear}</Button>
            </Empty>
          ) : (
            <Empty icon="task" title={words.empty[kind]} hint={words.emptyHint[kind]} />
          )
        }
      </QueryView>
    </>
  );
}

function useTasks(kind: Kind) {
  const nova = useNova();
  return usePages({
    queryKey: ["tasks", kind],
    refetchInterval: pauseMs,
    read: (cursor, signal) =>
      nova.ask(nova.api.GET("/tasks", { params: { query: { kind, limit: pageSize, ...cursor } }, signal })),
  });
}

function TaskList({ tasks, children }: { tasks: readonly Task[]; children: ReactNode }): JSX.Element {
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

function TaskRow({ task, isAt }: { task: Task; isAt: boolean }): JSX.Element {
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
