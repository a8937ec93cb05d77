import { createHash } from "node:crypto";
import type { KeptEvent, WakeShape, WakeStore } from "@nova/engine";
import { reaching } from "../../clients/outage.ts";
import type { BucketConnection } from "../../s3/connection.ts";
import { readObject } from "../../s3/read-object.ts";
import { writeOnce } from "../../s3/write-once.ts";
import type { TableConnection } from "../connection.ts";
import { checkFormat, FORMAT } from "../format.ts";
import { consistently, plainly, store } from "../options.ts";
import { whenAsked } from "../when-asked.ts";
import { type KeptEventItem, keptEventEntity, shapeEntity, wakeEntity } from "./wake-entities.ts";
import { secondsOf, type WakePlaces } from "./wake-places.ts";

/** Items stay small; the bucket's lifecycle ends what lies there a week after the table's time to live. */
const maxInlineBytes = 8 * 1024;
const keptSeconds = 7 * 24 * 3600;

/** Of the mark that tasks of earlier releases have their places. */
const wholeName = "WHOLE";
const forEver = Date.parse("2200-01-01T00:00:00Z") / 1000;

/** What wakes tasks, and recent events, in partitions of their own. */
export function createWakeStore(connection: TableConnection, bucket: BucketConnection, places: WakePlaces): WakeStore {
  const tasks = whenAsked(() => wakeEntity(connection));
  const shapes = whenAsked(() => shapeEntity(connection));
  const events = whenAsked(() => keptEventEntity(connection));
  return {
    use: (shape, until) => places.use(shape, until),
    async shapes() {
      const query = shapes.query.record({});
      const { data } = await reaching(store, () => query.go({ ...consistently, pages: "all" }));
      for (const { format } of data) checkFormat("a shape of events", format);
      const used = data.filter(({ name }) => name !== wholeName);
      return {
        shapes: used.map(({ shape, keepsEvents }) => ({ shape: JSON.parse(shape) as WakeShape, keepsEvents })),
        isWhole: used.length < data.length,
      };
    },
    async markWhole() {
      const mark = { name: wholeName, shape: "[]", keepsEvents: false };
      await reaching(store, () => shapes.put({ ...mark, format: FORMAT, expiresAt: forEver }).go(plainly));
    },
    async tasksAt(key) {
      const { data } = await reaching(store, () => tasks.query.record({ key }).go({ ...consistently, pages: "all" }));
      return data.map(({ execution, id }) => ({ execution, id }));
    },
    async keepEvent(key, { id, at, text }) {
      const content =
        Buffer.byteLength(text) <= maxInlineBytes ? { text } : { object: await keepObject(bucket, id, text) };
      const item = { key, at, id, ...content, format: FORMAT, expiresAt: secondsOf(at) + keptSeconds };
      await reaching(store, () => events.put(item).go(plainly));
    },
    async *eventsAt(key, from) {
      let cursor: string | null = null;
      do {
        const query = events.query.record({ key }).gte({ at: from });
        const page: { data: KeptEventItem[]; cursor: string | null } = await reaching(store, () =>
          query.go({ ...consistently, cursor }),
        );
        for (const item of page.data) {
          checkFormat("an event", item.format);
          const event = await eventOf(bucket, item);
          if (event) yield event;
        }
        cursor = page.cursor;
      } while (cursor);
    },
  };
}

/** A place for each event: one that came again would lie where the lifecycle has nearly ended it. */
async function keepObject(bucket: BucketConnection, id: string, text: string): Promise<string> {
  const body = Buffer.from(text);
  const sha256 = createHash("sha256").update(body).digest("hex");
  const key = `events/${createHash("sha256").update(`${id} ${sha256}`).digest("hex")}.json`;
  await writeOnce(bucket, { key, bytes: body.length, sha256, contentType: "application/json", body });
  return key;
}

/** Undefined where the lifecycle has ended it. */
async function eventOf(bucket: BucketConnection, item: KeptEventItem): Promise<KeptEvent | undefined> {
  const { id, at, text, object } = item;
  if (text !== undefined) return { id, at, text };
  const found = object === undefined ? undefined : await readObject(bucket, object);
  return found && { id, at, text: Buffer.concat(await Array.fromAsync(found.chunks)).toString("utf8") };
}
