import type { Task } from "@nova/client";
import { useInfiniteQuery } from "@tanstack/react-query";
import { type JSX, useState } from "react";
import { Link, useLocation } from "wouter";
import { useNova } from "../../api/nova.ts";
import { useAddress } from "../../parts/address.ts";
import { Button } from "../../parts/button.tsx";
import { Segments } from "../../parts/field.tsx";
import { FilterSelect } from "../../parts/filters.tsx";
import { Icon } from "../../parts/icon.tsx";
import { useKeys } from "../../parts/keyboard.tsx";
import { Empty, Failure, Loading } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";
import { UntrustedText } from "../../parts/untrusted-text.tsx";
import { texts } from "../../texts.ts";
import { Remaining } from "./remaining.tsx";
import "../../parts/filters.css";
import "./tasks-page.css";

const words = texts.tasks;
const kinds = ["approval", "event"] as const;
const pageSize = 100;
const pauseMs = 4_000;

/** All open tasks, oldest first. */
export function TasksPage(): JSX.Element {
  const [filters, change] = useAddress(["kind", "workflow", "client"]);
  const kind = filters.kind === "event" ? "event" : "approval";
  const tasks = useTasks(kind);
  const all = tasks.data?.pages.flatMap(({ items }) => items) ?? [];
  const shown = all.filter(
    ({ workflow, client }) =>
      (filters.workflow === undefined || workflow === filters.workflow) &&
      (filters.client === undefined || client === filters.client),
  );
  const known = (value: (task: Task) => string | null) =>
    Array.from(new Set(all.flatMap((task) => value(task) ?? [])), (one) => [one, one] as const);
  return (
    <>
      <header className="page-head">
        <h1>{words.title}</h1>
        {tasks.data && <span className="quiet">{`${words.count(shown.length)}${tasks.hasNextPage ? "+" : ""}`}</span>}
        <span className="page-head-end live">{texts.common.live}</span>
      </header>
      <div className="filter-bar" role="search">
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
            values={known((task) => task[name])}
            onChange={(value) => change({ [name]: value })}
          />
        ))}
      </div>
      {tasks.isPending ? (
        <Loading />
      ) : tasks.error ? (
        <Failure error={tasks.error} onRetry={() => void tasks.refetch()} />
      ) : shown.length === 0 ? (
        <Nothing
          kind={kind}
          isFiltered={all.length > 0}
          onClear={() => change({ workflow: undefined, client: undefined })}
        />
      ) : (
        <TaskList tasks={shown}>
          {tasks.hasNextPage && (
            <Button disabled={tasks.isFetchingNextPage} onClick={() => void tasks.fetchNextPage()}>
              {words.more}
            </Button>
          )}
        </TaskList>
      )}
    </>
  );
}

function useTasks(kind: (typeof kinds)[number]) {
  const nova = useNova();
  return useInfiniteQuery({
    queryKey: ["tasks", kind],
    queryFn: ({ pageParam, signal }) => {
      const query = { kind, limit: pageSize, ...(pageParam !== undefined && { cursor: pageParam }) };
      return nova.ask(nova.api.GET("/tasks", { params: { query }, signal }));
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    refetchInterval: pauseMs,
  });
}

interface NothingProps {
  kind: (typeof kinds)[number];
  isFiltered: boolean;
  onClear(): void;
}

function Nothing({ kind, isFiltered, onClear }: NothingProps): JSX.Element {
  if (!isFiltered) return <Empty icon="task" title={words.empty[kind]} hint={words.emptyHint[kind]} />;
  return (
    <Empty icon="search" title={words.none} hint={words.noneHint}>
      <Button onClick={onClear}>{texts.runs.clear}</Button>
    </Empty>
  );
}

function TaskList({ tasks, children }: { tasks: readonly Task[]; children: JSX.Element | false }): JSX.Element {
  const at = useTaskKeys(tasks);
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

function useTaskKeys(tasks: readonly Task[]): number {
  const [at, setAt] = useState(-1);
  const [, go] = useLocation();
  const step = (by: number) => setAt((before) => Math.max(0, Math.min(tasks.length - 1, before + by)));
  const next = { label: words.keys.next, run: () => step(1) };
  const previous = { label: words.keys.previous, run: () => step(-1) };
  const task = tasks[at];
  useKeys({
    j: next,
    ArrowDown: next,
    k: previous,
    ArrowUp: previous,
    ...(task && { Enter: { label: words.keys.open, run: () => go(`/tasks/${task.task_id}`) } }),
  });
  return at;
}
