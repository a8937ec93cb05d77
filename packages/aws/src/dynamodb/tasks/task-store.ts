import type { TaskStatus, TaskStore, WaitingTask, Wake } from "@nova/engine";
import { keepingDigits, textOfJson } from "@nova/workflow";
import { reaching, reachingIf } from "../../clients/outage.ts";
import type { TableConnection } from "../connection.ts";
import { checkFormat, FORMAT } from "../format.ts";
import { consistently, plainly, store } from "../options.ts";
import { WakePlaces } from "../wakes/wake-places.ts";
import { whenAsked } from "../when-asked.ts";
import { type TaskEntity, type TaskItem, taskEntity } from "./task-entity.ts";
import { tokenEntity } from "./token-entity.ts";

/** What runs wait for, and the tokens with which they go on. */
export function createTaskStore(connection: TableConnection, places = new WakePlaces(connection)): TaskStore {
  const tasks = whenAsked(() => taskEntity(connection));
  const tokens = whenAsked(() => tokenEntity(connection));
  return {
    async create(task) {
      if (task.wake) await places.add(task, task.wake);
      return reachingIf(store, () => tasks.create(itemOf(task)).go(plainly));
    },
    async place(task, wake) {
      const { execution, id } = task;
      await places.add(task, wake);
      const patch = tasks.patch({ execution, id }).set({ wake: JSON.stringify(wake) });
      await reachingIf(store, () => patch.go(plainly));
    },
    async get({ execution, id }) {
      const { data } = await reaching(store, () => tasks.get({ execution, id }).go(consistently));
      return data ? taskOf(data) : undefined;
    },
    async find(id) {
      const { data } = await reaching(store, () => tasks.query.byId({ id }).go(plainly));
      return data[0] && taskOf(data[0]);
    },
    async ofExecution(execution) {
      const { data } = await reaching(store, () =>
        tasks.query.record({ execution }).go({ ...consistently, pages: "all" }),
      );
      return data.map(taskOf);
    },
    async hasOpen(execution) {
      const open = tasks.query.record({ execution }).where(({ status }, { eq }) => eq(status, "open"));
      const { data } = await reaching(store, () => open.go({ ...consistently, count: 1 }));
      return data.length > 0;
    },
    pending: (from) => pendingTasks(tasks, from),
    pendingOf: (client, kind, from = everSince) =>
      tasksOf((cursor) =>
        tasks.query
          .ofClient({ clientKey: clientKey(client, kind) })
          .gte({ createdAt: from })
          .go({ ...plainly, cursor }),
      ),
    async move({ execution, id }, from, to, answeredAt) {
      const patch = tasks.patch({ execution, id }).set({ status: to, ...(answeredAt !== undefined && { answeredAt }) });
      const moved = isPending(to) ? patch : patch.remove(["open", "clientKey"]);
      let after: Partial<TaskItem> = {};
      const isMoved = await reachingIf(store, async () => {
        const conditional = moved.where(({ status }, { eq }) => from.map((one) => eq(status, one)).join(" OR "));
        after = (await conditional.go({ ...plainly, response: "all_new" })).data;
      });
      if (after.wake !== undefined && !isPending(to)) await places.remove(id, JSON.parse(after.wake) as Wake);
      return isMoved;
    },
    async noteMail({ execution, id }, mail) {
      const noted = tasks.patch({ execution, id }).set({ mail: JSON.stringify(mail) });
      // It may have been erased meanwhile.
      await reachingIf(store, () => noted.go(plainly));
    },
    async putToken({ execution, id }, { key, sealed }) {
      await reaching(store, () => tokens.put({ execution, id, key, sealed, format: FORMAT }).go(plainly));
    },
    async tokens({ execution, id }) {
      const { data } = await reaching(store, () =>
        tokens.query.record({ execution, id }).go({ ...consistently, pages: "all" }),
      );
      return data.map(({ key, sealed, format }) => {
        checkFormat(`a token of task "${id}"`, format);
        return { key, sealed };
      });
    },
  };
}

/** In front of every time. */
const everSince = "0";

function pendingTasks(entity: TaskEntity, from = everSince): AsyncGenerator<WaitingTask> {
  const query = entity.query.pending({ open: "tasks" }).gte({ createdAt: from });
  return tasksOf((cursor) => query.go({ ...plainly, cursor }));
}

type Page = { data: TaskItem[]; cursor: string | null };

async function* tasksOf(read: (cursor: string | null) => Promise<Page>): AsyncGenerator<WaitingTask> {
  let cursor: string | null = null;
  do {
    const page: Page = await reaching(store, () => read(cursor));
    for (const item of page.data) yield taskOf(item);
    cursor = page.cursor;
  } while (cursor);
}

function clientKey(client: string, kind: WaitingTask["kind"]): string {
  return `${kind === "approval" ? "T" : "TE"}#${client}`;
}

function isPending(status: TaskStatus): boolean {
  return status === "open" || status === "answered";
}

function itemOf({ form, forms, pattern, wake, mail, ...task }: WaitingTask) {
  const { client, kind, status } = task;
  const isListed = client !== undefined && isPending(status);
  return {
    ...task,
    ...(form && { form: JSON.stringify(form) }),
    ...(forms && { forms: JSON.stringify(forms) }),
    ...(pattern !== undefined && { pattern: textOfJson(pattern) }),
    ...(wake && { wake: JSON.stringify(wake) }),
    ...(mail && { mail: JSON.stringify(mail) }),
    ...(isPending(status) && { open: "tasks" as const }),
    ...(isListed && { clientKey: clientKey(client, kind) }),
  };
}

function taskOf({ open: _, clientKey: __, format, form, forms, pattern, wake, mail, ...task }: TaskItem): WaitingTask {
  checkFormat(`task "${task.id}"`, format);
  return {
    ...task,
    format: FORMAT,
    ...(form !== undefined && { form: JSON.parse(form) }),
    ...(forms !== undefined && { forms: JSON.parse(forms) }),
    ...(pattern !== undefined && { pattern: keepingDigits(pattern) }),
    ...(wake !== undefined && { wake: JSON.parse(wake) }),
    ...(mail !== undefined && { mail: JSON.parse(mail) }),
  };
}
