import type { Request } from "../aws-http/request.ts";
import type { KeyedFile } from "../disk/keyed-file.ts";

/** A schedule as the client defined it, with the time until which it has fired. */
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
  /**
   * The start of the schedule. A schedule with a rate such as `rate(5 minutes)` fires at this time for the first time.
   */
  startMs: number;
  /** Up to this time, the schedule has fired for every due time or has missed it. */
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

/**
 * Reads schedule expressions. The emulator has no implementation of their language: the caller of `openSchedules`
 * passes its own.
 */
export interface ScheduleExpressions {
  /** Returns the expression, such as `rate(5 minutes)`; undefined for an invalid text. */
  read(text: string, timeZone: string): ScheduleExpression | undefined;
  isTimeZone(name: string): boolean;
}

export interface ScheduleExpression {
  /**
   * Returns the first due time after `afterMs`; undefined if there is none any more. For a rate such as `rate(5
   * minutes)`, the intervals count from `startMs`.
   */
  nextAfter(startMs: number, afterMs: number): number | undefined;
}

/** The state that operations work on. */
export interface ScheduleService {
  expressions: ScheduleExpressions;
  /** The schedule groups that exist. */
  groups: readonly string[];
  store: KeyedFile<StoredSchedule>;
  /** `follow` is called when a schedule was changed or deleted. */
  firing: { follow(key: string): void };
  now(): number;
}

/** Operations by their names in EventBridge Scheduler's API. */
export type ScheduleOperations = Record<string, (service: ScheduleService, request: Request) => object>;
