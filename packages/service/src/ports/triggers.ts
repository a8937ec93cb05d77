import type { Trigger, TriggerType, WrittenJson } from "@nova/workflow";
import type { Range } from "./page.ts";

/** A pause of a mailbox that could not be read. */
export interface Pause {
  failures: number;
  until: string;
}

/** A trigger of a workflow's active version, found by its key. */
export interface LiveTrigger {
  format: 1;
  key: string;
  workflowId: string;
  trigger: Trigger;
  pause?: Pause;
}

export interface TriggerStore {
  /**
   * Stores a trigger under its key, and replaces a trigger of the same workflow. Returns false if the key belongs to
   * another workflow.
   */
  put(live: LiveTrigger): Promise<boolean>;
  get(key: string): Promise<LiveTrigger | undefined>;
  /** Sets the pause of a mailbox, or ends it if `pause` is undefined. Does nothing if the trigger is gone. */
  pause(live: Pick<LiveTrigger, "key" | "workflowId">, pause: Pause | undefined): Promise<void>;
  /** Removes a trigger. Does nothing if no trigger has the key, or the key belongs to another workflow. */
  remove(live: Pick<LiveTrigger, "key" | "workflowId">): Promise<void>;
}

export interface BusEvent {
  /** The system that sent the event, such as `shop.orders`; `nova` is NOVA itself. */
  source: string;
  type: string;
  detail: string;
}

export interface Bus {
  /**
   * Puts an event on the bus and returns the event's id. A detail may have any size, because details that are too large
   * for the bus are stored separately.
   */
  put(event: BusEvent): Promise<string>;
  /**
   * Returns an event of the bus (JSON text, EventBridge's shape) with its whole detail; undefined if the detail is
   * gone.
   */
  whole(event: string): Promise<string | undefined>;
}

/** The queue of versions that wait for their state machine. The publisher takes one after the other. */
export interface PublishQueue {
  /** A version may be enqueued twice. */
  enqueue(version: { workflow: string; version: number }): Promise<void>;
}

/** The name of the trigger to which a schedule or a rule belongs. */
export interface TriggerName {
  workflow: string;
  trigger: string;
}

/** The times at which a trigger fires. */
export interface Schedule extends TriggerName {
  /**
   * The times in EventBridge Scheduler's syntax: `cron(0 8 ? * MON-FRI *)`, `rate(5 minutes)`,
   * `at(2026-12-01T08:00:00)`.
   */
  expression: string;
  /** IANA name of the time zone; absent: UTC. */
  timezone?: string;
  /** The time at which a `rate(...)` first fires the trigger, in ISO 8601; absent: immediately. */
  firstAt?: string;
  /** True: the schedule polls a mailbox. Absent: it fires its trigger. */
  polls?: true;
}

/** Schedules by the name of their trigger. Every call can be repeated. */
export interface Schedules {
  /**
   * Stores a schedule. If the stored schedule already has the same times, it is not restarted. Throws `Refused` for an
   * invalid expression or time zone.
   */
  put(schedule: Schedule): Promise<void>;
  remove(name: TriggerName): Promise<void>;
  /**
   * Returns the time at which a `rate(...)` first fires the trigger, in milliseconds since the epoch; undefined if
   * there is none.
   */
  firstAt(name: TriggerName): Promise<number | undefined>;
}

/** A rule that fires a trigger for matching events of a bus. */
export interface EventRule extends TriggerName {
  bus: "nova" | "default";
  pattern: WrittenJson;
}

/** Rules by the name of their trigger. Every call can be repeated. */
export interface EventRules {
  /** Creates or changes the rule. Throws `Refused` for an invalid pattern. */
  put(rule: EventRule): Promise<void>;
  remove(rule: TriggerName & Pick<EventRule, "bus">): Promise<void>;
}

/** `accepted`: NOVA is starting the run of the delivery; a repeated delivery continues with that run. */
export const deliveryStatuses = ["accepted", "started", "refused", "failed"] as const;

export type DeliveryStatus = (typeof deliveryStatuses)[number];

/** A message, request, event or time that reached a trigger, with or without a run. */
export interface Delivery {
  format: 1;
  /** SHA-256 of workflow, type, trigger, client and `dedupe`. */
  key: string;
  id: string;
  type: TriggerType;
  /** The workflow of the trigger; null if no workflow matches, such as for a mail to an unknown address. */
  workflow: string | null;
  trigger: string | null;
  client: string | null;
  at: string;
  from: string;
  about: string;
  /**
   * Identifies what is delivered: a Message-ID, the id of an event, or a time. Repeated deliveries have the same value.
   */
  dedupe: string;
  status: DeliveryStatus;
  /** The id of the run, which is reserved when the delivery is accepted; null if there is no run. */
  execution: string | null;
  reason: string | null;
  /** When DynamoDB deletes the delivery (its time to live), in seconds since the epoch. */
  expiresAt: number;
}

/**
 * A query must name a workflow or a client. There is no index of all deliveries, because it would be one overloaded
 * partition of the table.
 */
export interface DeliveryQuery extends Range {
  /** The workflow of the deliveries; null: deliveries that match no workflow. */
  workflow?: string | null;
  client?: string | undefined;
  status?: DeliveryStatus;
}

export interface DeliveryStore {
  /** Stores a delivery and returns undefined. If a delivery with its key exists, returns that delivery instead. */
  begin(delivery: Delivery): Promise<Delivery | undefined>;
  /** Stores the outcome. Does nothing if the delivery is already `started`, or was erased with its client. */
  finish(key: string, outcome: Pick<Delivery, "status" | "execution" | "reason">): Promise<void>;
  /** Lists deliveries, newest first. */
  list(query: DeliveryQuery): Promise<Delivery[]>;
}

/** Reads the policy that a domain publishes in `_dmarc.<domain>`; see `dmarcPolicies`. */
export type DmarcPolicies = (domain: string) => Promise<"none" | "quarantine" | "reject">;

export interface MailPorts {
  /** Domains that NOVA accepts mail for; empty: all mail that SES or the laptop receives. */
  domains: readonly string[];
  dmarcPolicies: DmarcPolicies;
  mailboxes: Mailboxes;
}

/** Received mails, kept until they are processed. */
export interface IncomingMail {
  open(key: string): Promise<{ bytes: number; chunks: AsyncIterable<Uint8Array> } | undefined>;
}

export interface MailboxAddress {
  host: string;
  port: number;
  user: string;
  password: string;
  mailbox: string;
}

export interface UnreadMail {
  uid: number;
  bytes: number;
  /** Reads up to `maxBytes` from the start of the mail. The mail stays unread. */
  read(maxBytes: number): Promise<Buffer>;
}

export interface OpenMailbox {
  /** Lists unread mails, oldest first, at most `limit`. */
  unread(limit: number): Promise<UnreadMail[]>;
  markRead(uid: number): Promise<void>;
  close(): Promise<void>;
}

export interface Mailboxes {
  /** Throws `MailboxUnreachable`, as do the methods of the opened mailbox. */
  open(address: MailboxAddress): Promise<OpenMailbox>;
}

/** A plain-text mail that NOVA sends. */
export interface Notice {
  to: string[];
  /** The sender address; absent: the sender address of the deployment. */
  from?: string;
  subject: string;
  text: string;
  /**
   * The run that the mail is about. It is written into the headers of the mail. Stored copies of the mail are erased
   * with that run.
   */
  about: { execution: string; client?: string };
}

export interface Mailer {
  send(notice: Notice): Promise<void>;
}

/** Posts to URLs that users chose. */
export interface Poster {
  /** Throws `HostRefused` for a forbidden host, and `PostFailed` if the server does not accept the request. */
  post(request: { url: string; body: string; headers: Record<string, string> }): Promise<void>;
}
