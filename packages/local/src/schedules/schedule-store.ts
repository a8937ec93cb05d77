import { JsonFile } from "../disk/json-file.ts";
import { type StoredSchedule, scheduleKey } from "./schedule.ts";

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
