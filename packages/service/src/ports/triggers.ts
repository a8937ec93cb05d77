import type { Trigger, WrittenJson } from "@nova/workflow";

/** A pause of a mailbox that could not be read. */
export interface Pause {
  /** Consecutive failures. */
  failures: number;
  /** ISO 8601. */
  until: string;
}

/** A trigger of a workflow's active version, found by its key. */
export interface LiveTrigger {
  format: 1;
  /** See `triggerKey`. */
  key: string;
  workflowId: string;
  trigger: Trigger;
  /** Present while the mailbox could not be read. */
  pause?: Pause;
}

export interface TriggerStore {
  /** Replaces a trigger of the same workflow; false if the key belongs to another workflow. */
  put(live: LiveTrigger): Promise<boolean>;
  get(key: string): Promise<LiveTrigger | undefined>;
  /** Sets the pause; undefined ends it. Does nothing if the trigger is gone. */
  pause(live: Pick<LiveTrigger, "key" | "workflowId">, pause: Pause | undefined): Promise<void>;
  /** Does nothing if the key is free, or belongs to another workflow. */
  remove(live: Pick<LiveTrigger, "key" | "workflowId">): Promise<void>;
}

/** An event for NOVA's bus. */
export interface BusEvent {
  /** The origin, such as `shop.orders`; `nova` is NOVA itself. */
  source: string;
  type: string;
  /** JSON text of an object. */
  detail: string;
}

export interface Bus {
  /** Returns the event's id. A detail may have any size: details that are too large for the bus are stored separately. */
  put(event: BusEvent): Promise<string>;
  /** Returns an event of the bus (JSON text, EventBridge's shape) with its whole detail; undefined if that is gone. */
  whole(event: string): Promise<string | undefined>;
}

/** Versions that wait for their state machine. The publisher takes one after the other. */
export interface PublishQueue {
  /** A version may be enqueued twice. */
  enqueue(version: { workflow: string; version: number }): Promise<void>;
}

/** The trigger that a schedule or a rule belongs to. */
export interface TriggerName {
  workflow: string;
  trigger: string;
}

/** The times at which a trigger fires. */
export interface Schedule extends TriggerName {
  /** In EventBridge Scheduler's syntax: `cron(0 8 ? * MON-FRI *)`, `rate(5 minutes)`, `at(2026-12-01T08:00:00)`. */
  expression: string;
  /** IANA name; absent: UTC. */
  timezone?: string;
  /** ISO 8601: the first time of a rate. Absent: immediately. */
  firstAt?: string;
  /** The schedule polls a mailbox. Absent: the trigger fires. */
  polls?: true;
}

/** Schedules by the name of their trigger. Every call can be repeated. */
export interface Schedules {
  /** A schedule with the same times is not restarted. Throws `Refused` for an invalid expression or time zone. */
  put(schedule: Schedule): Promise<void>;
  remove(name: TriggerName): Promise<void>;
  /** The first time of a rate, milliseconds since the epoch; undefined if there is none. */
  firstAt(name: TriggerName): Promise<number | undefined>;
}

/** A rule that fires a trigger for matching events of a bus. */
export interface EventRule extends TriggerName {
  bus: "nova" | "default";
  /** An EventBridge event pattern. */
  pattern: WrittenJson;
}

/** Rules by the name of their trigger. Every call can be repeated. */
export interface EventRules {
  /** Creates or changes the rule. Throws `Refused` for an invalid pattern. */
  put(rule: EventRule): Promise<void>;
  remove(rule: TriggerName & Pick<EventRule, "bus">): Promise<void>;
}
