import type { WrittenJson } from "./json/exact.ts";

/** Starts runs of a workflow from outside, as long as the version that declares it is active. */
export type Trigger = MailTrigger | ImapTrigger | WebhookTrigger | ScheduleTrigger | EventTrigger;
export type TriggerType = Trigger["type"];

interface TriggerBase {
  /** Unique in its workflow. Default: its type and a number, such as `schedule-1`. */
  id: string;
  /** Slug of the client that owns its runs; absent: the default client. */
  client?: string;
}

/** A mail to `<address>@` or `<address>+<client>@` NOVA's mail domain. */
export interface MailTrigger extends TriggerBase {
  type: "mail";
  /** Lower case, digits and dashes. */
  address: string;
  /** Allowed senders in lower case: addresses, or `@domain` for a whole domain. Absent: everyone. */
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
  /** Allowed senders, as for a mail trigger. */
  from?: string[];
}

/** A request to `/hooks/<id>`; the id is unique across workflows. */
export interface WebhookTrigger extends TriggerBase {
  type: "webhook";
  signature?: WebhookSignature;
  /** Dot path into `{headers, body}` of the delivery's id: `headers.x-delivery`, `body.id`. */
  dedupe?: string;
  /** Seconds that the request waits for the end of the run. */
  waitSeconds?: number;
}

/** HMAC of the unchanged body. */
export interface WebhookSignature {
  /** Lower case. */
  header: string;
  /** Name of the credential that holds the key. */
  secret: string;
  algorithm: "sha1" | "sha256" | "sha512";
  /** Text before the digest: `sha256=`. */
  prefix?: string;
  /** Present if the header holds the signing time, as Stripe's does: the age limit of a request. */
  toleranceSeconds?: number;
}

export interface ScheduleTrigger extends TriggerBase {
  type: "schedule";
  when: /** Six fields as in EventBridge Scheduler, without `cron(...)` around them. */
    | { kind: "cron"; cron: string }
    | { kind: "every"; everySeconds: number }
    /** A local time in the time zone, `2026-01-31T09:00:00`. */
    | { kind: "at"; at: string };
  /** IANA name; absent: UTC. */
  timezone?: string;
  /** Initial context of its runs, in addition to `schedule`. */
  context?: WrittenJson;
}

export interface EventTrigger extends TriggerBase {
  type: "event";
  /** An EventBridge event pattern. */
  pattern: WrittenJson;
  bus: "nova" | "default";
}
