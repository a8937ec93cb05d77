import type { WrittenJson } from "./json/exact.ts";

/** What starts runs of a workflow from outside, while the version that declares it is the active one. */
export type Trigger = MailTrigger | ImapTrigger | WebhookTrigger | ScheduleTrigger | EventTrigger;
export type TriggerType = Trigger["type"];

interface TriggerBase {
  /** Unique in its workflow; where none was written, its type and a number: `schedule-1`. */
  id: string;
  /** Slug of the client that its runs belong to; absent: the one that everything without a client belongs to. */
  client?: string;
}

/** A mail to `<address>@` or `<address>+<client>@` the domain that NOVA takes mail for. */
export interface MailTrigger extends TriggerBase {
  type: "mail";
  /** Lower case, digits and dashes. */
  address: string;
  /** Who may write, in lower case: addresses, or `@domain` for all of a domain. Absent: everybody. */
  from?: string[];
}

/** Unread mails in a client's mailbox. */
export interface ImapTrigger extends TriggerBase {
  type: "imap";
  client: string;
  /** Name of the client's credential of the kind `email`. */
  credential: string;
  mailbox: string;
  everySeconds: number;
  /** As of a mail trigger. */
  from?: string[];
}

/** A request to `/hooks/<id>`, which no other workflow may have. */
export interface WebhookTrigger extends TriggerBase {
  type: "webhook";
  signature?: WebhookSignature;
  /** Dot path into `{headers, body}` of what repeated deliveries have in common: `headers.x-delivery`, `body.id`. */
  dedupe?: string;
  /** How long the request waits for the end of the run. */
  waitSeconds?: number;
}

/** HMAC of the body as it came. */
export interface WebhookSignature {
  /** Lower case. */
  header: string;
  /** Name of the credential that holds the key. */
  secret: string;
  algorithm: "sha1" | "sha256" | "sha512";
  /** In front of the digest: `sha256=`. */
  prefix?: string;
  /** There: the header says when it was signed, as Stripe's, and a request may be so old. */
  toleranceSeconds?: number;
}

export interface ScheduleTrigger extends TriggerBase {
  type: "schedule";
  when: /** Six fields as EventBridge Scheduler has them, without `cron(...)` around. */
    | { kind: "cron"; cron: string }
    | { kind: "every"; everySeconds: number }
    /** A local time of the time zone, `2026-01-31T09:00:00`. */
    | { kind: "at"; at: string };
  /** IANA name; absent: UTC. */
  timezone?: string;
  /** What its runs start with, besides `schedule`. */
  context?: WrittenJson;
}

export interface EventTrigger extends TriggerBase {
  type: "event";
  /** An EventBridge event pattern. */
  pattern: WrittenJson;
  bus: "nova" | "default";
}
