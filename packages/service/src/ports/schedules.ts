import type { WrittenJson } from "@nova/workflow";

/** Which trigger of which workflow something in the outside world stands for. */
export interface TriggerName {
  workflow: string;
  trigger: string;
}

/** A point, or points, in time at which a trigger fires. */
export interface Schedule extends TriggerName {
  /** As EventBridge Scheduler writes it: `cron(0 8 ? * MON-FRI *)`, `rate(5 minutes)`, `at(2026-12-01T08:00:00)`. */
  expression: string;
  /** IANA name; absent: UTC. */
  timezone?: string;
  /** ISO 8601: the first time of a rate. Absent: at once. */
  firstAt?: string;
  /** It is time to look at a mailbox. Absent: the trigger fires. */
  polls?: true;
}

/** Schedules by the name of their trigger. Doing the same twice is harmless. */
export interface Schedules {
  /**
   * Makes it, or changes the one that is there; one that is due at the same times goes on as it was. Throws `Refused`
   * where the expression or the time zone is none.
   */
  put(schedule: Schedule): Promise<void>;
  remove(name: TriggerName): Promise<void>;
  /** The first time of a rate, milliseconds since the epoch; undefined where there is none. */
  firstAt(name: TriggerName): Promise<number | undefined>;
}

/** Events on a bus that fire a trigger. */
export interface EventRule extends TriggerName {
  bus: "nova" | "default";
  /** An EventBridge event pattern. */
  pattern: WrittenJson;
}

/** Rules by the name of their trigger. Doing the same twice is harmless. */
export interface EventRules {
  /** Makes it, or changes the one that is there. Throws `Refused` where the pattern is none. */
  put(rule: EventRule): Promise<void>;
  remove(rule: TriggerName & Pick<EventRule, "bus">): Promise<void>;
}
