import { createHash } from "node:crypto";
import type { TriggerName } from "@nova/service";
import { reaching, unless } from "../clients/outage.ts";

/** What makes triggers of workflows real. */
export interface TriggerOptions {
  /** Name of NOVA's own bus. */
  busName: string;
  /** Schedules of one stage are one group. */
  scheduleGroup: string;
  /** What Scheduler calls functions as. */
  scheduleRoleArn: string;
  /** The function that starts runs on schedules and events. */
  fireTriggerArn: string;
  /** The function that looks at mailboxes. */
  pollMailboxArn: string;
  /** Queue for what could not be delivered for a day; absent: it is lost. */
  deadLetterArn?: string | undefined;
}

/** EventBridge and Scheduler try an invocation for a day, in at most 185 attempts ("Retry policies" of both). */
export const retries = { MaximumRetryAttempts: 185, MaximumEventAgeInSeconds: 24 * 60 * 60 };

/** EventBridge: names of rules and of schedules have at most 64 characters. */
const maxNameLength = 64;

/**
 * Name of what stands for a trigger, the same for rules and schedules: readable, and told from others by a hash, since
 * `a-b` of `c` would else meet `b` of `c-a`.
 */
export function resourceName({ workflow, trigger }: TriggerName): string {
  const hash = createHash("sha256").update(`${workflow}\n${trigger}`).digest("hex").slice(0, 12);
  const readable = `nova-${workflow}-${trigger}`.replaceAll(/[^A-Za-z0-9._-]/g, "-");
  return `${readable.slice(0, maxNameLength - 1 - hash.length)}-${hash}`;
}

/** What a call answers; undefined where what it is about is not there. */
export function unlessAbsent<T>(service: string, call: () => Promise<T>): Promise<T | undefined> {
  return unless(["ResourceNotFoundException"], undefined, () => reaching(service, call));
}

/** AWS does not take a trigger. It has the name of the service's `Refused`, so that the service need not be loaded for it. */
export class TriggerRefused extends Error {
  override name = "Refused";
}
