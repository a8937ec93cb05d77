import { createHash } from "node:crypto";
import type { TriggerName } from "@nova/service";
import { orOnError, reportOutage } from "../clients/outage.ts";

/** AWS resources that triggers of workflows use. */
export interface TriggerOptions {
  /** Name of NOVA's own bus. */
  busName: string;
  /** Schedules of one stage are one group. */
  scheduleGroup: string;
  /** The role with which Scheduler calls functions. */
  scheduleRoleArn: string;
  /** The function that starts runs on schedules and events. */
  fireTriggerArn: string;
  /** The function that polls mailboxes. */
  pollMailboxArn: string;
  /** Queue for events that could not be delivered for a day. Without it they are lost. */
  deadLetterArn?: string | undefined;
}

/** EventBridge and Scheduler, "Retry policies": at most 185 attempts within a day. */
export const retries = { MaximumRetryAttempts: 185, MaximumEventAgeInSeconds: 24 * 60 * 60 };

/** EventBridge: names of rules and of schedules have at most 64 characters. */
const maxNameLength = 64;

/**
 * Name of a trigger's rule or schedule. The hash keeps names unique: otherwise trigger `a-b` of workflow `c` and
 * trigger `b` of workflow `c-a` would have the same name.
 */
export function resourceName({ workflow, trigger }: TriggerName): string {
  const hash = createHash("sha256").update(`${workflow}\n${trigger}`).digest("hex").slice(0, 12);
  const readable = `nova-${workflow}-${trigger}`.replaceAll(/[^A-Za-z0-9._-]/g, "-");
  return `${readable.slice(0, maxNameLength - 1 - hash.length)}-${hash}`;
}

/** Returns the result of a call; undefined if its resource does not exist. */
export function unlessAbsent<T>(service: string, call: () => Promise<T>): Promise<T | undefined> {
  return orOnError(["ResourceNotFoundException"], undefined, () => reportOutage(service, call));
}

/**
 * AWS refuses a trigger. It has the name of the service's error `Refused`, so that this file need not load the service.
 */
export class TriggerRefused extends Error {
  override name = "Refused";
}
