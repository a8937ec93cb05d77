import type { Request } from "../aws-http/request.ts";
import type { KeyedFile } from "../disk/keyed-file.ts";

/** A schedule as the client defined it, with its progress. */
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
  /** The start of a rate, which is also its first time. */
  startMs: number;
  /** Every time until this one has fired or was missed. */
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

/** Reads schedule expressions. The caller passes its own implementation of the language. */
export interface ScheduleExpressions {
  /** The expression, such as `rate(5 minutes)`; undefined for an invalid text. */
  read(text: string, timeZone: string): ScheduleExpression | undefined;
  isTimeZone(name: string): boolean;
}

export interface ScheduleExpression {
  /** The first time after `afterMs`; a rate counts from `startMs`. Undefined: never again. */
  nextAfter(startMs: number, afterMs: number): number | undefined;
}

/** The state that operations work on. */
export interface ScheduleService {
  expressions: ScheduleExpressions;
  /** The schedule groups that exist. */
  groups: readonly string[];
  store: KeyedFile<StoredSchedule>;
  /** Follows a schedule that was changed or deleted. */
  firing: { follow(key: string): void };
  now(): number;
}

export interface ScheduleCall {
  /** The name in the path. */
  name: string;
  query: URLSearchParams;
  request: Request;
}

/** Operations by their names in EventBridge Scheduler's API. */
export type ScheduleOperations = Record<string, (service: ScheduleService, call: ScheduleCall) => object>;
