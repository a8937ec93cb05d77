import type { TaskMail, TaskStatus, TaskStore, WaitingTask, Wake } from "@nova/engine";
import { defined, keepingDigits, textOfJson } from "@nova/workflow";
import { reportOutageIf } from "../clients/outage.ts";
import { checkFormat, FORMAT, json, numbers, optionalTexts, requireFormat, text, texts } from "./fields.ts";
import {
  findItem,
  indexKeys,
  plainOptions,
  readAll,
  readEach,
  readSome,
  record,
  type Stored,
  serviceName,
  type TableConnection,
  tableKeys,
  writeIf,
  writeItem,
} from "./records.ts";
import { WakePlaces } from "./wakes.ts";

/** Sorts before every time. */
const everSince = "0";

/** Tasks that runs wait for, and the encrypted tokens that continue the runs. */
export function createTaskStore(connection: TableConnection, places = new WakePlaces(connection)): TaskStore {
  const tasks = taskRecord(connection);
  const tokens = tokenRecord(connection);
  return {
    async create(task) {
      if (task.wake) await places.add(task, task.wake);
      return writeIf(tasks.create(itemOf(task)));
    },
    get: ({ execution, id }) => findItem(tasks.get({ execution, id }), taskOf),
    async find(id) {
      const [item] = await readSome(tasks.query.byId({ id }), {});
      return item && taskOf(item);
    },
    ofExecution: async (execution) => (await readAll(tasks.query.record({ execution }))).map(taskOf),
    async hasOpen(execution) {
      const open = tasks.query.record({ execution }).where(({ status }, { eq }) => eq(status, "open"));
      return (await readSome(open, { consistent: true, count: 1 })).length > 0;
    },
    pending: (from = everSince) => tasksOf(readEach(tasks.query.pending({ open: "tasks" }).gte({ createdAt: from }))),
    pendingOf: (client, kind, from = everSince) =>
      tasksOf(readEach(tasks.query.ofClient({ clientKey: clientKey(client, kind) }).gte({ createdAt: from }))),
    async move({ execution, id }, from, to, answeredAt) {
      const patch = tasks.patch({ execution, id }).set(defined({ status: to, answeredAt }));
      const moved = isPending(to) ? patch : patch.remove(["open", "clientKey"]);
      let after: Partial<TaskItem> = {};
      const isMoved = await reportOutageIf(serviceName, async () => {
        const conditional = moved.where(({ status }, { eq }) => from.map((one) => eq(status, one)).join(" OR "));
        after = (await conditional.go({ ...plainOptions, response: "all_new" })).data;
      });
      if (after.wake !== undefined && !isPending(to)) await places.remove(id, after.wake);
      return isMoved;
    },
    async noteMail({ execution, id }, mail) {
      // The task may have been erased meanwhile.
      await writeIf(tasks.patch({ execution, id }).set({ mail }));
    },
    putToken: ({ execution, id }, { key, sealed }) =>
      writeItem(tokens.put({ execution, id, key, sealed, format: FORMAT })),
    async tokens({ execution, id }) {
      return (await readAll(tokens.query.record({ execution, id }))).map(({ key, sealed, format }) => {
        checkFormat(`a token of task "${id}"`, format);
        return { key, sealed };
      });
    },
  };
}

/** Skips tasks that cannot be read, so that one of them does not stop a sweep over all waiting tasks. */
async function* tasksOf(items: AsyncGenerator<TaskItem>): AsyncGenerator<WaitingTask> {
  for await (const item of items) {
    const task = taskIfReadable(item);
    if (task) yield task;
  }
}

function taskIfReadable(item: TaskItem): WaitingTask | undefined {
  try {
    return taskOf(item);
  } catch (error) {
    process.emitWarning(`task "${item.id}" of ${item.execution} cannot be read and is left out: ${error}`);
    return undefined;
  }
}

function clientKey(client: string, kind: WaitingTask["kind"]): string {
  return `${kind === "approval" ? "T" : "TE"}#${client}`;
}

function isPending(status: TaskStatus): boolean {
  return status === "open" || status === "answered";
}

function itemOf({ pattern, form, forms, ...task }: WaitingTask) {
  const { client, kind, status } = task;
  return {
    ...task,
    ...(pattern !== undefined && { pattern: textOfJson(pattern) }),
    ...(form !== undefined && { form: textOfJson(form) }),
    ...(forms !== undefined && { forms: mapValues(forms, textOfJson) }),
    ...(isPending(status) && { open: "tasks" as const, clientKey: clientKey(client, kind) }),
  };
}

function taskOf({ open: _, clientKey: __, pattern, form, forms, ...task }: TaskItem): WaitingTask {
  return {
    ...requireFormat(`task "${task.id}"`, task),
    ...(pattern !== undefined && { pattern: keepingDigits(pattern) }),
    ...(form !== undefined && { form: keepingDigits(form) }),
    ...(forms !== undefined && { forms: mapValues(forms, keepingDigits) }),
  };
}

function mapValues<From, To>(fields: Record<string, From>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, change(value)]));
}

const requiredTexts = { type: "list", items: { type: "string" }, required: true } as const;

const byTime = "{createdAt}#{execution}";

const taskRecord = record(
  "task",
  {
    ...texts("execution", "id", "client", "workflowId", "scope", "node", "message", "createdAt", "expiresAt"),
    ...optionalTexts("link", "answeredAt"),
    ...numbers("version", "seq"),
    /** JSON texts, because JavaScript numbers would lose digits. */
    ...optionalTexts("pattern", "form"),
    /** One JSON text per choice. */
    forms: json<Record<string, string>>(),
    wake: json<Wake>(),
    mail: json<TaskMail>(),
    kind: { type: ["approval", "event"], required: true },
    choices: requiredTexts,
    to: requiredTexts,
    status: { type: ["open", "answered", "sent", "expired"], required: true },
    /** Key of a sparse index; set while the task is open or its answer is not sent. */
    open: { type: ["tasks"] },
    /** `T#<client>` for an approval, `TE#<client>` for an event; set while `open` is. */
    clientKey: text,
  },
  {
    record: tableKeys("T#{execution}", "T#{id}"),
    byId: indexKeys("by-workflow", "T#{id}", byTime),
    ofClient: indexKeys("by-client", "{clientKey}", byTime),
    pending: indexKeys("open", "{open}", byTime),
  },
);

type TaskItem = Stored<typeof taskRecord>;

/** An encrypted token in the partition of its task. Each token is its own item. */
const tokenRecord = record("token", texts("execution", "id", "key", "sealed"), {
  record: tableKeys("T#{execution}", "K#{id}#{key}"),
});
