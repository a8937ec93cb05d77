import { JsonFile } from "../disk/whole-file.ts";

/** A schedule as it was put, and how far it is. */
export interface StoredSchedule {
  name: string;
  group: string;
  expression: string;
  timezone: string;
  state: "ENABLED" | "DISABLED";
  description?: string;
  /** How late it may fire; 0: no flexible window. */
  windowMinutes: number;
  target: ScheduleTarget;
  createdMs: number;
  modifiedMs: number;
  /** What a rate counts from, which is also its first time. */
  startMs: number;
  /** What was due until then has fired, or was missed. */
  doneMs: number;
}

export interface ScheduleTarget {
  Arn: string;
  RoleArn: string;
  Input?: string;
  RetryPolicy?: { MaximumEventAgeInSeconds?: number; MaximumRetryAttempts?: number };
  DeadLetterConfig?: { Arn: string };
}

export function scheduleKey({ group, name }: Pick<StoredSchedule, "group" | "name">): string {
  return `${group}/${name}`;
}

/** All schedules, as a file. Read when they are first asked for. */
export class ScheduleStore {
  readonly #file: JsonFile<StoredSchedule[]>;
  #schedules: Map<string, StoredSchedule> | undefined;

  constructor(path: string) {
    this.#file = new JsonFile(path, []);
  }

  all(): StoredSchedule[] {
    return [...this.#byKey().values()];
  }

  get(key: string): StoredSchedule | undefined {
    return this.#byKey().get(key);
  }

  put(schedule: StoredSchedule): void {
    this.#write(new Map(this.#byKey()).set(scheduleKey(schedule), schedule));
  }

  remove(key: string): void {
    const left = new Map(this.#byKey());
    left.delete(key);
    this.#write(left);
  }

  #byKey(): Map<string, StoredSchedule> {
    this.#schedules ??= new Map(this.#file.read().map((schedule) => [scheduleKey(schedule), schedule]));
    return this.#schedules;
  }

  #write(schedules: Map<string, StoredSchedule>): void {
    this.#file.write([...schedules.values()]);
    this.#schedules = schedules;
  }
}
