import { randomUUID } from "node:crypto";
import { dueAfter, parseExpression } from "@nova/workflow";
import type { Deliveries } from "../deliveries/deliveries.ts";
import type { Room } from "../disk/room.ts";
import { Alarms } from "../states/alarms.ts";
import type { Clock } from "../states/clock.ts";
import { type StoredSchedule, scheduleKey } from "./schedule.ts";
import type { ScheduleStore } from "./schedule-store.ts";

/** EventBridge Scheduler fires within the minute that begins when a schedule is due. */
const precisionMs = 60_000;

export interface FiringOptions {
  store: ScheduleStore;
  deliveries: Deliveries;
  clock: Clock;
  room: Room;
  /** Hears what was due while nobody was there. */
  warn(sentence: string): void;
}

/** Fires schedules when they are due, from `begin()` on. */
export class Firing {
  readonly #options: FiringOptions;
  readonly #alarms: Alarms<string>;
  #fires = false;

  constructor(options: FiringOptions) {
    this.#options = options;
    this.#alarms = new Alarms(options.clock, (key) => this.watch(key));
  }

  begin(): void {
    this.#fires = true;
    for (const schedule of this.#options.store.all()) this.watch(scheduleKey(schedule));
  }

  /** Sees to a schedule that was put, or is gone. */
  watch(key: string): void {
    if (!this.#fires) return;
    const schedule = this.#options.store.get(key);
    const due = schedule?.state === "ENABLED" ? this.#dueOf(schedule) : undefined;
    if (schedule && due !== undefined && due <= this.#options.clock.now()) this.#fireOnce(schedule, due);
    else this.#alarms.set(key, due ?? null);
  }

  /** What cannot be written down is fired when there is room. */
  #fireOnce(schedule: StoredSchedule, due: number): void {
    const { room } = this.#options;
    try {
      this.#catchUp(schedule, due);
    } catch (error) {
      if (!room.refusal(error)) throw error;
      if (room.isAwaited) room.untilThere().then(() => this.watch(scheduleKey(schedule)));
    }
  }

  end(): void {
    this.#fires = false;
    this.#alarms.allOff();
  }

  #dueOf(schedule: StoredSchedule, afterMs = schedule.doneMs): number | undefined {
    const parsed = parseExpression(schedule.expression, schedule.timezone);
    return parsed && dueAfter(parsed, schedule.startMs, afterMs);
  }

  /** Fires once for the first time that is not too long ago; what was due before that is missed. */
  #catchUp(schedule: StoredSchedule, firstDue: number): void {
    const { store, clock, warn } = this.#options;
    const now = clock.now();
    const latenessMs = Math.max(precisionMs, schedule.windowMinutes * 60_000);
    const due = firstDue > now - latenessMs ? firstDue : this.#dueOf(schedule, now - latenessMs);
    if (firstDue !== due) warn(missed(schedule, firstDue));
    if (due !== undefined && due <= now) this.#fire(schedule, due);
    // Written after the delivery: who is killed in between fires it twice, and not never.
    store.put({ ...schedule, doneMs: now });
    this.watch(scheduleKey(schedule));
  }

  #fire({ target }: StoredSchedule, dueMs: number): void {
    const scheduled = new Date(dueMs).toISOString().replace(/\.\d+/, "");
    const payload = (target.Input ?? "{}")
      .replaceAll("<aws.scheduler.scheduled-time>", scheduled)
      .replaceAll("<aws.scheduler.execution-id>", randomUUID())
      .replaceAll("<aws.scheduler.attempt-number>", "1");
    this.#options.deliveries.add({ functionArn: target.Arn, payload, inTurn: false });
  }
}

function missed({ name, description }: StoredSchedule, dueMs: number): string {
  const what = description ?? `Schedule ${name}`;
  return `${what} was due at ${new Date(dueMs).toISOString()}, while nothing ran here: that time is left out`;
}
