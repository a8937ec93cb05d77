import type { TaskMail, TaskStatus, TaskStore, WaitingTask, Wake } from "@nova/engine";
import { defined, keepingDigits, textOfJson } from "@nova/workflow";
import { reachingIf } from "../clients/outage.ts";
import { checkFormat, current, FORMAT, json, numbers, optionalTexts, text, texts } from "./fields.ts";
import {
  each,
  found,
  indexed,
  place,
  plainly,
  readAll,
  readSome,
  record,
  type Stored,
  store,
  type TableConnection,
  write,
  writeIf,
} from "./records.ts";
import { WakePlaces } from "./wakes.ts";

/** In front of every time. */
const everSince = "0";

/** What runs wait for, and the tokens with which they go on. */
export function createTaskStore(connection: TableConnection, places = new WakePlaces(connection)): TaskStore {
  const tasks = taskRecord(connection);
  const tokens = tokenRecord(connection);
  return {
    async create(task) {
      if (task.wake) await places.add(task, task.wake);
      return writeIf(tasks.create(itemOf(task)));
    },
    async place(task, wake) {
      const { execution, id } = task;
      await places.add(task, wake);
      await writeIf(tasks.patch({ execution, id }).set({ wake }));
    },
    get: ({ execution, id }) => found(tasks.get({ execution, id }), taskOf),
    async find(id) {
      const [item] = await readSome(tasks.query.byId({ id }), {});
      return item && taskOf(item);
    },
    ofExecution: async (execution) => (await readAll(tasks.query.record({ execution }))).map(taskOf),
    async hasOpen(execution) {
      const open = tasks.query.record({ execution }).where(({ status }, { eq }) => eq(status, "open"));
      return (await readSome(open, { consistent: true, count: 1 })).length > 0;
    },
    pending: (from = everSince) => tasksOf(each(tasks.query.pending({ open: "tasks" }).gte({ createdAt: from }))),
    pendingOf: (client, kind, from = everSince) =>
      tasksOf(each(tasks.query.ofClient({ clientKey: clientKey(client, kind) }).gte({ createdAt: from }))),
    async move({ execution, id }, from, to, answeredAt) {
      const patch = tasks.patch({ execution, id }).set(defined({ status: to, answeredAt }));
      const moved = isPending(to) ? patch : patch.remove(["open", "clientKey"]);
      let after: Partial<TaskItem> = {};
      const isMoved = await reachingIf(store, async () => {
        const conditional = moved.where(({ status }, { eq }) => from.map((one) => eq(status, one)).join(" OR "));
        after = (await conditional.go({ ...plainly, response: "all_new" })).data;
      });
      if (after.wake !== undefined && !isPending(to)) await places.remove(id, after.wake);
      return isMoved;
    },
    async noteMail({ execution, id }, mail) {
      // It may have been erased meanwhile.
      await writeIf(tasks.patch({ execution, id }).set({ mail }));
    },
    putToken: ({ execution, id }, { key, sealed }) => write(tokens.put({ execution, id, key, sealed, format: FORMAT })),
    async tokens({ execution, id }) {
      return (await readAll(tokens.query.record({ execution, id }))).map(({ key, sealed, format }) => {
        checkFormat(`a token of task "${id}"`, format);
        return { key, sealed };
      });
    },
  };
}

/** A sweep reads all tasks that wait: one that cannot be read must not stop the others. */
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
  const isListed = client !== undefined && isPending(status);
  return {
    ...task,
    ...(pattern !== undefined && { pattern: textOfJson(pattern) }),
    ...(form !== undefined && { form: textOfJson(form) }),
    ...(forms !== undefined && { forms: mapValues(forms, textOfJson) }),
    ...(isPending(status) && { open: "tasks" as const }),
    ...(isListed && { clientKey: clientKey(client, kind) }),
  };
}

function taskOf({ open: _, clientKey: __, pattern, form, forms, ...task }: TaskItem): WaitingTask {
  return {
    ...current(`task "${task.id}"`, task),
    ...(pattern !== undefined && { pattern: keepingDigits(pattern) }),
    ...(form !== undefined && { form: keepingDigits(form) }),
    ...(forms !== undefined && { forms: mapValues(forms, keepingDigits) }),
  };
}

function mapValues<From, To>(fields: Record<string, From>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, change(value)]));
}

const requiredTexts = { type: "list", items: { type: "string" }, required: true } as const;

/** Keys of an index need not be unique. */
const byTime = "{createdAt}#{execution}";

const taskRecord = record(
  "task",
  {
    ...texts("execution", "id", "workflowId", "scope", "node", "message", "createdAt", "expiresAt"),
    ...optionalTexts("client", "link", "answeredAt"),
    ...numbers("version", "seq"),
    /** JSON texts: their numbers may have digits that JavaScript has not. */
    ...optionalTexts("pattern", "form"),
    /** JSON texts by choice. */
    forms: json<Record<string, string>>(),
    wake: json<Wake>(),
    mail: json<TaskMail>(),
    kind: { type: ["approval", "event"], required: true },
    choices: requiredTexts,
    to: requiredTexts,
    status: { type: ["open", "answered", "sent", "expired"], required: true },
    /** There while somebody may have something to do with it: the key of a sparse index. */
    open: { type: ["tasks"] },
    /** `T#<client>` of an approval, `TE#<client>` of a wait for an event; likewise. */
    clientKey: text,
  },
  {
    record: place("T#{execution}", "T#{id}"),
    byId: indexed("by-workflow", "T#{id}", byTime),
    ofClient: indexed("by-client", "{clientKey}", byTime),
    pending: indexed("open", "{open}", byTime),
  },
);

type TaskItem = Stored<typeof taskRecord>;

/** Tokens lie beside their task, one item each, encrypted. */
const tokenRecord = record("token", texts("execution", "id", "key", "sealed"), {
  record: place("T#{execution}", "K#{id}#{key}"),
});
