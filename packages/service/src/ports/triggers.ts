import type { Trigger, WrittenJson } from "@nova/workflow";

/** A mailbox that could not be read, and until when nobody tries it. */
export interface Pause {
  /** In a row. */
  failures: number;
  /** ISO 8601. */
  until: string;
}

/** A trigger of the active version of a workflow: what comes in finds it here. */
export interface LiveTrigger {
  format: 1;
  /** See `triggerKey`. */
  key: string;
  workflowId: string;
  trigger: Trigger;
  /** Of a mailbox that could not be read. */
  pause?: Pause;
}

export interface TriggerStore {
  /** Replaces that of the same workflow; false where the key is another workflow's. */
  put(live: LiveTrigger): Promise<boolean>;
  get(key: string): Promise<LiveTrigger | undefined>;
  /** Nothing happens where it is gone. Undefined ends a pause. */
  pause(live: Pick<LiveTrigger, "key" | "workflowId">, pause: Pause | undefined): Promise<void>;
  /** Nothing happens where the key is another workflow's, or nobody's. */
  remove(live: Pick<LiveTrigger, "key" | "workflowId">): Promise<void>;
}

/** Something that happened, for whoever listens on NOVA's bus. */
export interface BusEvent {
  /** Where it comes from, such as `shop.orders`; `nova` is NOVA's own. */
  source: string;
  type: string;
  /** JSON text of an object. */
  detail: string;
}

export interface Bus {
  /** Answers the event's id. A detail may be of any size: what a bus cannot carry travels beside it. */
  put(event: BusEvent): Promise<string>;
  /** An event of the bus (JSON text, EventBridge's shape) with all of its detail; undefined where that is gone. */
  whole(event: string): Promise<string | undefined>;
}

/** Versions of workflows that wait to be made state machines; whoever publishes takes one after the other. */
export interface PublishQueue {
  /** The same one may come twice. */
  enqueue(version: { workflow: string; version: number }): Promise<void>;
}

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
  /** One due at the same times goes on as it was. Throws `Refused` where expression or time zone is none. */
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
