import type { Request } from "../aws-http/request.ts";
import type { KeyedFile } from "../disk/keyed-file.ts";

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

/** Reads schedule expressions: the caller owns the language, the emulator has none of its own. */
export interface ScheduleExpressions {
  /** The expression, such as `rate(5 minutes)`; undefined for a text that is none. */
  read(text: string, timeZone: string): ScheduleExpression | undefined;
  isTimeZone(name: string): boolean;
}

export interface ScheduleExpression {
  /** The first time after `afterMs`; a rate counts from `startMs`. Undefined: never again. */
  nextAfter(startMs: number, afterMs: number): number | undefined;
}

/** What the operations work on. */
export interface ScheduleService {
  expressions: ScheduleExpressions;
  /** The schedule groups that exist. */
  groups: readonly string[];
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
