import type { Request } from "../aws-http/request.ts";
import type { KeyedFile } from "../disk/whole-file.ts";
import type { Firing } from "./firing.ts";
import type { StoredSchedule } from "./schedule-store.ts";

/** What the operations work on. */
export interface ScheduleService {
  store: KeyedFile<StoredSchedule>;
  firing: Firing;
  /** Names of the groups that there are. */
  groups: readonly string[];
  region: string;
  now(): number;
}

export interface ScheduleCall {
  /** From the address. */
  name: string;
  query: URLSearchParams;
  request: Request;
}

export type ScheduleOperation = (service: ScheduleService, call: ScheduleCall) => object;
