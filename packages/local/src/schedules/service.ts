import type { Request } from "../aws-http/request.ts";
import type { KeyedFile } from "../disk/whole-file.ts";

/** A schedule as it was put, and how far it is. */
export interface StoredSchedule {
  name: string;
  group: string;
  expression: string;
  timezone: string;
  state: "ENABLED" | "DISABLED";
  description?: string;
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

/** What the operations work on. */
export interface ScheduleService {
  store: KeyedFile<StoredSchedule>;
  /** Sees to a schedule that was put, or is gone. */
  firing: { watch(key: string): void };
  now(): number;
}

export interface ScheduleCall {
  /** From the address. */
  name: string;
  query: URLSearchParams;
  request: Request;
}

/** By the names that the API of EventBridge Scheduler has for them. */
export type ScheduleOperations = Record<string, (service: ScheduleService, call: ScheduleCall) => object>;
