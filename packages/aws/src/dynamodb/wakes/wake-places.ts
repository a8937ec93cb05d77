import { createHash } from "node:crypto";
import type { UsedShape, WaitingTask, Wake } from "@nova/engine";
import { reaching, reachingIf } from "../../clients/outage.ts";
import type { TableConnection } from "../connection.ts";
import { FORMAT } from "../format.ts";
import { plainly, store } from "../options.ts";
import { whenAsked } from "../when-asked.ts";
import { shapeEntity, wakeEntity } from "./wake-entities.ts";

const aDaySeconds = 24 * 3600;
const aMonthSeconds = 31 * aDaySeconds;

/** Writes where events find tasks. */
export class WakePlaces {
  readonly #tasks: ReturnType<typeof wakeEntity>;
  readonly #shapes: ReturnType<typeof shapeEntity>;
  /** Until when shapes are in use as far as this process knows, by name. */
  readonly #known = new Map<string, number>();

  constructor(connection: TableConnection) {
    this.#tasks = whenAsked(() => wakeEntity(connection));
    this.#shapes = whenAsked(() => shapeEntity(connection));
  }

  /** Before the task itself: one that is written is found. */
  async add({ id, execution, client, expiresAt }: WaitingTask, { shape, keys }: Wake): Promise<void> {
    await this.use({ shape, keepsEvents: false }, expiresAt);
    const place = { format: FORMAT, id, execution, expiresAt: secondsOf(expiresAt) + aDaySeconds };
    for (const key of keys) {
      const item = { ...place, key, ...(client !== undefined && { client }) };
      await reaching(store, () => this.#tasks.put(item).go(plainly));
    }
  }

  async remove(id: string, { keys }: Wake): Promise<void> {
    for (const key of keys) await reaching(store, () => this.#tasks.delete({ key, id }).go(plainly));
  }

  /** A month longer than asked, so that it is written once a month and not by each run. */
  async use({ shape, keepsEvents }: UsedShape, until: string): Promise<void> {
    const text = JSON.stringify(shape);
    const name = `${keepsEvents ? "events" : "tasks"}#${text}`;
    const needed = secondsOf(until);
    if ((this.#known.get(name) ?? 0) >= needed) return;
    const expiresAt = needed + aMonthSeconds;
    const item = { name: nameOf(name), shape: text, keepsEvents, format: FORMAT, expiresAt };
    const put = this.#shapes
      .put(item)
      .where((known, { notExists, lt }) => `${notExists(known.expiresAt)} OR ${lt(known.expiresAt, needed)}`);
    const isNew = await reachingIf(store, () => put.go(plainly));
    this.#known.set(name, isNew ? expiresAt : needed);
  }
}

/** DynamoDB: a sort key has at most 1,024 bytes. */
function nameOf(name: string): string {
  return createHash("sha256").update(name).digest("hex").slice(0, 32);
}

export function secondsOf(iso: string): number {
  return Math.floor(Date.parse(iso) / 1000);
}
