import { createHash } from "node:crypto";
import * as engine from "@nova/engine";
import { type Approvers, defined, keepingDigits, textOfJson } from "@nova/workflow";
import { reportOutageIf } from "../clients/outage.ts";
import { storeEventText } from "../events/bus.ts";
import { type BucketConnection, readText } from "../s3/objects.ts";
import * as db from "./records.ts";

/** A text that sorts before every time. Lists of all tasks start with it. */
const everSince = "0";

/** Creates the store of the tasks for which runs wait, and of the encrypted tokens that continue the runs. */
export function createTaskStore(connection: db.TableConnection, places = new WakePlaces(connection)): engine.TaskStore {
  const tasks = taskRecord(connection);
  const tokens = tokenRecord(connection);
  const voters = voterRecord(connection);
  return {
    async create(task) {
      if (task.wake) await places.add(task, task.wake);
      return db.writeIf(tasks.create(itemOf(task)));
    },
    get: ({ execution, id }) => db.findItem(tasks.get({ execution, id }), taskOf),
    async find(id) {
      const [item] = await db.readSome(tasks.query.byId({ id }), {});
      return item && taskOf(item);
    },
    ofExecution: async (execution) => (await db.readAll(tasks.query.record({ execution }))).map(taskOf),
    async hasOpen(execution) {
      const open = tasks.query.record({ execution }).where(({ status }, { eq }) => eq(status, "open"));
      return (await db.readSome(open, { consistent: true, count: 1 })).length > 0;
    },
    pending: (from = everSince) =>
      tasksOf(db.readEach(tasks.query.pending({ open: "tasks" }).gte({ createdAt: from }))),
    pendingOf: (client, kind, from = everSince) =>
      tasksOf(db.readEach(tasks.query.ofClient({ clientKey: clientKey(client, kind) }).gte({ createdAt: from }))),
    async move({ execution, id }, from, to, answeredAt) {
      const patch = tasks.patch({ execution, id }).set(defined({ status: to, answeredAt }));
      const moved = isPending(to) ? patch : patch.remove(["open", "clientKey"]);
      let after: Partial<TaskItem> = {};
      const isMoved = await reportOutageIf(db.serviceName, async () => {
        const conditional = moved.where(({ status }, { eq }) => from.map((one) => eq(status, one)).join(" OR "));
        after = (await conditional.go({ ...db.plainOptions, response: "all_new" })).data;
      });
      if (after.wake !== undefined && !isPending(to)) await places.remove(id, after.wake);
      return isMoved;
    },
    async noteMail({ execution, id }, mail) {
      // Changes only an existing task, because the task may have been erased meanwhile.
      await db.writeIf(tasks.patch({ execution, id }).set({ mail }));
    },
    async noteReminded({ execution, id }, reminded) {
      await db.writeIf(tasks.patch({ execution, id }).set({ reminded }));
    },
    async noteDelegates({ execution, id }, delegates) {
      await db.writeIf(tasks.patch({ execution, id }).set({ delegates: [...delegates] }));
    },
    async voter(execution, id) {
      const none = { version: 0, claims: [] };
      const known = await db.findItem(voters.get({ execution, person: engine.sha256(id) }), (item) =>
        db.requireFormat(`the votes of a person on ${execution}`, item),
      );
      return known ? { version: known.version, claims: known.claims ?? [] } : none;
    },
    putVoter({ execution, client }, id, { version, claims }) {
      const named = { execution, client, person: engine.sha256(id), format: db.FORMAT };
      const put = voters.put({ ...named, version: version + 1, claims });
      return db.writeIf(put.where(db.isUnchanged({ version: version === 0 ? undefined : version })));
    },
    putToken: ({ execution, id }, { key, sealed }) =>
      db.writeItem(tokens.put({ execution, id, key, sealed, format: db.FORMAT })),
    async tokens({ execution, id }) {
      return (await db.readAll(tokens.query.record({ execution, id }))).map(({ key, sealed, format }) => {
        db.checkFormat(`a token of task "${id}"`, format);
        return { key, sealed };
      });
    },
  };
}

/**
 * Yields the tasks in items. Skips an unreadable task with a warning, so that this task does not stop a sweep over all
 * waiting tasks.
 */
async function* tasksOf(items: AsyncGenerator<TaskItem>): AsyncGenerator<engine.WaitingTask> {
  for await (const item of items) {
    try {
      yield taskOf(item);
    } catch (error) {
      process.emitWarning(`task "${item.id}" of ${item.execution} cannot be read and is left out: ${error}`);
    }
  }
}

function clientKey(client: string, kind: engine.WaitingTask["kind"]): string {
  return `${kind === "approval" ? "T" : "TE"}#${client}`;
}

function isPending(status: engine.TaskStatus): boolean {
  return status === "open" || status === "answered";
}

function itemOf({ pattern, form, forms, ...task }: engine.WaitingTask) {
  const { client, kind, status } = task;
  return {
    ...task,
    ...(pattern !== undefined && { pattern: textOfJson(pattern) }),
    ...(form !== undefined && { form: textOfJson(form) }),
    ...(forms !== undefined && { forms: mapValues(forms, textOfJson) }),
    ...(isPending(status) && { open: "tasks" as const, clientKey: clientKey(client, kind) }),
  };
}

function taskOf({ open: _, clientKey: __, pattern, form, forms, ...task }: TaskItem): engine.WaitingTask {
  return {
    ...db.requireFormat(`task "${task.id}"`, task),
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

const taskRecord = db.record(
  "task",
  {
    ...db.texts("execution", "id", "client", "workflowId", "scope", "node", "message", "createdAt", "expiresAt"),
    ...db.optionalTexts("link", "answeredAt"),
    ...db.numbers("version", "seq"),
    /** JSON texts, because JavaScript numbers would lose digits. */
    ...db.optionalTexts("pattern", "form"),
    forms: db.json<Record<string, string>>(),
    wake: db.json<engine.Wake>(),
    mail: db.json<engine.TaskMail>(),
    approvers: db.json<Approvers>(),
    remindSeconds: { type: "list", items: { type: "number" } },
    reminded: { type: "number" },
    notify: { type: "list", items: { type: "string" } },
    delegates: { type: "list", items: { type: "string" } },
    kind: { type: ["approval", "event"], required: true },
    choices: requiredTexts,
    to: requiredTexts,
    status: { type: ["open", "answered", "sent", "expired"], required: true },
    /** Key of a sparse index; set while the task is open or its answer is not sent. */
    open: { type: ["tasks"] },
    /** `T#<client>` for an approval, `TE#<client>` for an event; set while `open` is. */
    clientKey: db.text,
  },
  {
    record: db.tableKeys("T#{execution}", "T#{id}"),
    byId: db.indexKeys("by-workflow", "T#{id}", byTime),
    ofClient: db.indexKeys("by-client", "{clientKey}", byTime),
    pending: db.indexKeys("open", "{open}", byTime),
  },
);

type TaskItem = db.Stored<typeof taskRecord>;

/** An encrypted token, in the partition of its task. Each token is an item of its own. */
const tokenRecord = db.record("token", db.texts("execution", "id", "key", "sealed"), {
  record: db.tableKeys("T#{execution}", "K#{id}#{key}"),
});

/** The claims of a person to vote. The key has the hash of the person's id, which may be a mail address. */
const voterRecord = db.record(
  "voter",
  {
    ...db.texts("execution", "client", "person"),
    ...db.numbers("version"),
    claims: db.json<readonly engine.VoterClaim[]>(),
  },
  { record: db.tableKeys("T#{execution}", "V#{person}") },
);

/** Creates the store of resume links. A link is in the same partition as the tasks of its execution. */
export function createResumeLinkStore(connection: db.TableConnection): engine.ResumeLinkStore {
  const links = linkRecord(connection);
  return {
    async create(link) {
      await db.writeIf(links.create(link));
    },
    get: ({ execution, id }) => db.findItem(links.get({ execution, id }), linkOf),
    ofExecution: async (execution) => (await db.readAll(links.query.record({ execution }))).map(linkOf),
    call({ execution, id }, body, calledAt) {
      const patch = links.patch({ execution, id }).set({ body, calledAt });
      return db.writeIf(patch.where(({ body }, { notExists }) => notExists(body)));
    },
  };
}

function linkOf(item: db.Stored<typeof linkRecord>) {
  return db.requireFormat(`link "${item.id}"`, item);
}

const linkRecord = db.record(
  "resume-link",
  {
    ...db.texts("execution", "id", "client", "scope", "node", "tokenHash", "createdAt"),
    ...db.optionalTexts("body", "calledAt"),
    ...db.numbers("visit"),
  },
  { record: db.tableKeys("T#{execution}", "R#{id}") },
);

const aDaySeconds = 24 * 3600;
const aMonthSeconds = 31 * aDaySeconds;
/**
 * Limit in bytes: the text of a larger event is stored in the bucket. The bucket's lifecycle deletes it a week after
 * the item expires.
 */
const maxInlineBytes = 8 * 1024;
const keptSeconds = 7 * aDaySeconds;

/**
 * Creates the store of tasks by the keys of the events that end the tasks. It also stores the shapes in use (see
 * `shapeRecord`), and recent events.
 */
export function createWakeStore(
  connection: db.TableConnection,
  bucket: BucketConnection,
  places: WakePlaces,
): engine.WakeStore {
  const tasks = wakeRecord(connection);
  const shapes = shapeRecord(connection);
  const events = eventRecord(connection);
  return {
    use: (shape, until) => places.use(shape, until),
    async shapes() {
      const found = await db.readAll(shapes.query.record({}));
      for (const { format } of found) db.checkFormat("a shape of events", format);
      return found.map(({ shape, keepsEvents }) => ({ shape: JSON.parse(shape) as engine.WakeShape, keepsEvents }));
    },
    async tasksAt(key) {
      return (await db.readAll(tasks.query.record({ key }))).map(({ execution, id }) => ({ execution, id }));
    },
    async keepEvent(key, { id, at, text }) {
      const isSmall = Buffer.byteLength(text) <= maxInlineBytes;
      const content = isSmall ? { text } : { object: await storeEventText(bucket, id, text) };
      await db.writeItem(
        events.put({ key, at, id, ...content, format: db.FORMAT, expiresAt: secondsOf(at) + keptSeconds }),
      );
    },
    async *eventsAt(key, from) {
      for await (const item of db.readEach(events.query.record({ key }).gte({ at: from }), { consistent: true })) {
        db.checkFormat("an event", item.format);
        const event = await eventOf(bucket, item);
        if (event) yield event;
      }
    },
  };
}

/** Reads a stored event; undefined if the bucket's lifecycle has deleted its text. */
async function eventOf(bucket: BucketConnection, item: db.Stored<typeof eventRecord>) {
  const { id, at, object } = item;
  const text = item.text ?? (object === undefined ? undefined : await readText(bucket, object));
  return text === undefined ? undefined : { id, at, text };
}

/** Writes the keys under which events find tasks. */
export class WakePlaces {
  readonly #tasks: ReturnType<typeof wakeRecord>;
  readonly #shapes: ReturnType<typeof shapeRecord>;
  /**
   * The shapes that this process has written or found. Maps the name of each `WakeShape` to the time at which its
   * record expires, in seconds since the epoch.
   */
  readonly #known = new Map<string, number>();

  constructor(connection: db.TableConnection) {
    this.#tasks = wakeRecord(connection);
    this.#shapes = shapeRecord(connection);
  }

  /**
   * Writes the keys of a task. Callers must call this method before they write the task, so that an event finds every
   * written task.
   */
  async add({ id, execution, client, expiresAt }: engine.WaitingTask, { shape, keys }: engine.Wake): Promise<void> {
    await this.use({ shape, keepsEvents: false }, expiresAt);
    const place = { format: db.FORMAT, id, execution, expiresAt: secondsOf(expiresAt) + aDaySeconds };
    for (const key of keys) await db.writeItem(this.#tasks.put({ ...place, key, client }));
  }

  async remove(id: string, { keys }: engine.Wake): Promise<void> {
    for (const key of keys) await db.writeItem(this.#tasks.delete({ key, id }));
  }

  /**
   * Records that a shape is in use. The record lasts a month longer than `until`, so that runs rarely write it again.
   */
  async use({ shape, keepsEvents }: engine.UsedShape, until: string): Promise<void> {
    const text = JSON.stringify(shape);
    const name = `${keepsEvents ? "events" : "tasks"}#${text}`;
    const needed = secondsOf(until);
    if ((this.#known.get(name) ?? 0) >= needed) return;
    const expiresAt = needed + aMonthSeconds;
    // DynamoDB limits a sort key to 1,024 bytes, so the key has a hash of the name.
    const hash = createHash("sha256").update(name).digest("hex");
    const put = this.#shapes
      .put({ name: hash.slice(0, 32), shape: text, keepsEvents, format: db.FORMAT, expiresAt })
      .where((known, { notExists, lt }) => `${notExists(known.expiresAt)} OR ${lt(known.expiresAt, needed)}`);
    this.#known.set(name, (await db.writeIf(put)) ? expiresAt : needed);
  }
}

function secondsOf(iso: string): number {
  return Math.floor(Date.parse(iso) / 1000);
}

const common = db.numbers("expiresAt");

/** A task under one of its event keys. The item names the client, so that the client's erasure finds it. */
const wakeRecord = db.record(
  "wake",
  { ...common, ...db.texts("key", "id", "execution", "client") },
  { record: db.tableKeys("WAKE#{key}", "T#{id}") },
);

/**
 * A shape in use, as JSON text: the path in an event to the value by which tasks are found. It also says whether such
 * events are kept. All shapes share one partition.
 */
const shapeRecord = db.record(
  "wake-shape",
  { ...common, ...db.texts("name", "shape"), keepsEvents: { type: "boolean", required: true } },
  { record: db.tableKeys("SHAPE#", "S#{name}") },
);

/** An event under one of its keys: its text, or the bucket key of the text. */
const eventRecord = db.record(
  "kept-event",
  { ...common, ...db.texts("key", "at", "id"), ...db.optionalTexts("text", "object") },
  { record: db.tableKeys("WAKE#{key}", "E#{at}#{id}") },
);
