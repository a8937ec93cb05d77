import { randomUUID } from "node:crypto";
import type { Clock } from "../clock.ts";
import type { Deliveries } from "../deliveries.ts";
import type { DiskSpace } from "../disk/disk-space.ts";
import type { KeyedFile } from "../disk/keyed-file.ts";
import { Alarms, leastJumpMs } from "../states/alarms.ts";
import { type ScheduleExpressions, type StoredSchedule, scheduleKey } from "./service.ts";

/** EventBridge Scheduler may fire up to a minute after a schedule was due. */
const precisionMs = 60_000;

/** A warning counts at most this many missed times. */
const maxCounted = 100;

export interface FiringOptions {
  expressions: ScheduleExpressions;
  store: KeyedFile<StoredSchedule>;
  deliveries: Deliveries;
  clock: Clock;
  disk: DiskSpace;
  /** Receives sentences about times that a schedule has missed. */
  warn(sentence: string): void;
}

/** Fires schedules when they are due, from the call of `start()` on. */
export class Firing {
  readonly #options: FiringOptions;
  readonly #alarms: Alarms<string>;
  #fires = false;

  constructor(options: FiringOptions) {
    this.#options = options;
    this.#alarms = new Alarms(options.clock, (key) => this.follow(key));
  }

  start(): void {
    this.#fires = true;
    for (const schedule of this.#options.store.all()) this.follow(scheduleKey(schedule));
  }

  /**
   * Sets the alarm for the next time of a schedule, or fires if that time has come. If the disk is full, it tries again
   * when the disk has space.
   */
  follow(key: string): void {
    const { disk } = this.#options;
    try {
      if (this.#fires) this.#schedule(key);
    } catch (error) {
      if (!disk.refusal(error)) throw error;
      if (disk.isWaiting) disk.untilSpace().then(() => this.follow(key));
    }
  }

  #schedule(key: string): void {
    const schedule = this.#withClock(this.#options.store.get(key));
    const due = schedule?.state === "ENABLED" ? this.#dueOf(schedule) : undefined;
    if (schedule && due !== undefined && due <= this.#options.clock.now()) this.#catchUp(schedule, due);
    else this.#alarms.set(key, due ?? null);
  }

  stop(): void {
    this.#fires = false;
    this.#alarms.allOff();
  }

  /**
   * Returns the schedule. After the clock was set back, the next times of a repeating schedule may be times for which
   * it has already fired. In this case the method first changes the schedule, so that it continues from now.
   */
  #withClock(schedule: StoredSchedule | undefined): StoredSchedule | undefined {
    const { store, clock, warn } = this.#options;
    const now = clock.now();
    if (!schedule || schedule.doneMs <= now + leastJumpMs || !isRepeating(schedule)) return schedule;
    const again = { ...schedule, doneMs: now, startMs: Math.min(schedule.startMs, now) };
    store.put(again);
    warn(
      `${nameOf(schedule)} had fired until ${isoOf(schedule.doneMs)}, and the clock was set back: it goes on from now`,
    );
    return again;
  }

  #dueOf(schedule: StoredSchedule, afterMs = schedule.doneMs): number | undefined {
    const expression = this.#options.expressions.read(schedule.expression, schedule.timezone);
    return expression?.nextAfter(schedule.startMs, afterMs);
  }

  /** Fires for the first due time of the last minute, if there is one. Reports earlier due times as missed. */
  #catchUp(schedule: StoredSchedule, firstDue: number): void {
    const { store, clock, warn } = this.#options;
    const now = clock.now();
    const due = firstDue > now - precisionMs ? firstDue : this.#dueOf(schedule, now - precisionMs);
    const missed = this.#dueTimes(schedule, firstDue, Math.min(now, (due ?? now + 1) - 1));
    if (missed.length > 0) warn(describeMissed(schedule, missed));
    if (due !== undefined && due <= now) this.#fire(schedule, due);
    // Records the firing only after the delivery was accepted. If the process is killed in between, the schedule fires
    // twice instead of never.
    store.put({ ...schedule, doneMs: now });
    this.follow(scheduleKey(schedule));
  }

  /** Returns the due times from `firstDue` to `untilMs`, at most `maxCounted` + 1 of them. */
  #dueTimes(schedule: StoredSchedule, firstDue: number, untilMs: number): number[] {
    const times = [];
    let due: number | undefined = firstDue;
    for (; due !== undefined && due <= untilMs && times.length <= maxCounted; due = this.#dueOf(schedule, due)) {
      times.push(due);
    }
    return times;
  }

  #fire({ target }: StoredSchedule, dueMs: number): void {
    const scheduled = isoOf(dueMs).replace(/\.\d+/, "");
    const payload = (target.Input ?? "{}")
      .replaceAll("<aws.scheduler.scheduled-time>", scheduled)
      .replaceAll("<aws.scheduler.execution-id>", randomUUID())
      .replaceAll("<aws.scheduler.attempt-number>", "1");
    this.#options.deliveries.add({ functionArn: target.Arn, payload, inTurn: false });
  }
}

/** Returns whether the schedule has started and fires more than once. */
function isRepeating({ expression, startMs, doneMs, modifiedMs }: StoredSchedule): boolean {
  return !expression.startsWith("at(") && (doneMs >= startMs || startMs <= modifiedMs);
}

function describeMissed(schedule: StoredSchedule, [first = 0, ...others]: number[]): string {
  const [last, why] = [others.at(-1), "while nothing ran here, or this machine slept"];
  if (last === undefined) return `${nameOf(schedule)} was due at ${isoOf(first)} ${why}: that time is left out`;
  const count = others.length < maxCounted ? `${others.length + 1}` : `more than ${maxCounted}`;
  const until = others.length < maxCounted ? ` until ${isoOf(last)}` : "";
  return `${nameOf(schedule)} was due ${count} times from ${isoOf(first)}${until} ${why}: those times are left out`;
}

function nameOf({ name, description }: StoredSchedule): string {
  return description ?? `Schedule ${name}`;
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}
