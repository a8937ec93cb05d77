import type { EventRules, Schedules } from "@nova/service";
import { createEventRules } from "./event-rules.ts";
import { createSchedules } from "./schedules.ts";

export interface TriggerPortsOptions {
  /** Name of NOVA's bus. */
  busName: string;
  /** Group of the stage's schedules. */
  scheduleGroup: string;
  /** What Scheduler calls the function as. */
  scheduleRoleArn: string;
  /** The function that starts runs on schedules and events. */
  fireTriggerArn: string;
  /** The function that looks at mailboxes. */
  pollMailboxArn: string;
  /** Queue for what could not be delivered; absent: it is lost. */
  deadLetterArn?: string | undefined;
}

/** What makes triggers of workflows real. */
export function createTriggerPorts(options: TriggerPortsOptions): { schedules: Schedules; eventRules: EventRules } {
  const {
    busName,
    scheduleGroup,
    scheduleRoleArn,
    fireTriggerArn: targetArn,
    deadLetterArn,
    pollMailboxArn: pollArn,
  } = options;
  return {
    schedules: createSchedules({ group: scheduleGroup, roleArn: scheduleRoleArn, targetArn, pollArn, deadLetterArn }),
    eventRules: createEventRules({ busName, targetArn, deadLetterArn }),
  };
}
