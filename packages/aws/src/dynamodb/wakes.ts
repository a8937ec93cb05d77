import { createHash } from "node:crypto";
import type { KeptEvent, UsedShape, WaitingTask, Wake, WakeShape, WakeStore } from "@nova/engine";
import { storeEventText } from "../events/bus.ts";
import { type BucketConnection, readText } from "../s3/objects.ts";
import { checkFormat, FORMAT, numbers, optionalTexts, texts } from "./fields.ts";
import {
  readAll,
  readEach,
  record,
  type Stored,
  type TableConnection,
  tableKeys,
  writeIf,
  writeItem,
} from "./records.ts";

const aDaySeconds = 24 * 3600;
const aMonthSeconds = 31 * aDaySeconds;
/** A larger event text is stored in the bucket, whose lifecycle deletes it a week after the item expires. */
const maxInlineBytes = 8 * 1024;
const keptSeconds = 7 * aDaySeconds;

/** Tasks by the event keys that wake them, the event shapes in use, and recent events. */
export function createWakeStore(connection: TableConnection, bucket: BucketConnection, places: WakePlaces): WakeStore {
  const tasks = wakeRecord(connection);
  const shapes = shapeRecord(connection);
  const events = eventRecord(connection);
  return {
    use: (shape, until) => places.use(shape, until),
    async shapes() {
      const found = await readAll(shapes.query.record({}));
      for (const { format } of found) checkFormat("a shape of events", format);
      return found.map(({ shape, keepsEvents }) => ({ shape: JSON.parse(shape) as WakeShape, keepsEvents }));
    },
    async tasksAt(key) {
      return (await readAll(tasks.query.record({ key }))).map(({ execution, id }) => ({ execution, id }));
    },
    async keepEvent(key, { id, at, text }) {
      const isSmall = Buffer.byteLength(text) <= maxInlineBytes;
      const content = isSmall ? { text } : { object: await storeEventText(bucket, id, text) };
      await writeItem(events.put({ key, at, id, ...content, format: FORMAT, expiresAt: secondsOf(at) + keptSeconds }));
    },
    async *eventsAt(key, from) {
      for await (const item of readEach(events.query.record({ key }).gte({ at: from }), { consistent: true })) {
        checkFormat("an event", item.format);
        const event = await eventOf(bucket, item);
        if (event) yield event;
      }
    },
  };
}

/** Undefined if the bucket's lifecycle has deleted the text. */
async function eventOf(bucket: BucketConnection, item: Stored<typeof eventRecord>): Promise<KeptEvent | undefined> {
  const { id, at, object } = item;
  const text = item.text ?? (object === undefined ? undefined : await readText(bucket, object));
  return text === undefined ? undefined : { id, at, text };
}

/** Writes the keys under which events find tasks. */
export class WakePlaces {
  readonly #tasks: ReturnType<typeof wakeRecord>;
  readonly #shapes: ReturnType<typeof shapeRecord>;
  /** Expiry times that this process has written or found, by shape name; seconds since the epoch. */
  readonly #known = new Map<string, number>();

  constructor(connection: TableConnection) {
    this.#tasks = wakeRecord(connection);
    this.#shapes = shapeRecord(connection);
  }

  /** Writes the keys of a task. Call it before writing the task, so that an event finds every written task. */
  async add({ id, execution, client, expiresAt }: WaitingTask, { shape, keys }: Wake): Promise<void> {
    await this.use({ shape, keepsEvents: false }, expiresAt);
    const place = { format: FORMAT, id, execution, expiresAt: secondsOf(expiresAt) + aDaySeconds };
    for (const key of keys) await writeItem(this.#tasks.put({ ...place, key, client }));
  }

  async remove(id: string, { keys }: Wake): Promise<void> {
    for (const key of keys) await writeItem(this.#tasks.delete({ key, id }));
  }

  /** Marks a shape as used. The mark lasts a month longer than `until`, so that runs rarely write it again. */
  async use({ shape, keepsEvents }: UsedShape, until: string): Promise<void> {
    const text = JSON.stringify(shape);
    const name = `${keepsEvents ? "events" : "tasks"}#${text}`;
    const needed = secondsOf(until);
    if ((this.#known.get(name) ?? 0) >= needed) return;
    const expiresAt = needed + aMonthSeconds;
    const hash = createHash("sha256").update(name).digest("hex"); // DynamoDB: a sort key has at most 1,024 bytes
    const put = this.#shapes
      .put({ name: hash.slice(0, 32), shape: text, keepsEvents, format: FORMAT, expiresAt })
      .where((known, { notExists, lt }) => `${notExists(known.expiresAt)} OR ${lt(known.expiresAt, needed)}`);
    this.#known.set(name, (await writeIf(put)) ? expiresAt : needed);
  }
}

function secondsOf(iso: string): number {
  return Math.floor(Date.parse(iso) / 1000);
}

const common = numbers("expiresAt");

/** A task under one of its event keys. It names the client, so that erasing a client finds it. */
const wakeRecord = record(
  "wake",
  { ...common, ...texts("key", "id", "execution", "client") },
  { record: tableKeys("WAKE#{key}", "T#{id}") },
);

/** A shape in use, as JSON text, and whether events of this shape are kept. All shapes share one partition. */
const shapeRecord = record(
  "wake-shape",
  { ...common, ...texts("name", "shape"), keepsEvents: { type: "boolean", required: true } },
  { record: tableKeys("SHAPE#", "S#{name}") },
);

/** An event under one of its keys: its text, or the bucket key of the text. */
const eventRecord = record(
  "kept-event",
  { ...common, ...texts("key", "at", "id"), ...optionalTexts("text", "object") },
  { record: tableKeys("WAKE#{key}", "E#{at}#{id}") },
);
