import type { Stack } from "aws-cdk-lib/core";
import { functionArn } from "./functions.ts";
import { roleArn } from "./roles.ts";

/** NOVA's bus, and the group of its schedules. */
export const ownName = "nova";

/** ARNs of what makes runs begin by themselves; packages/aws makes the rules and schedules, by names of its own. */
export interface EventArns {
  bus: string;
  /** Of triggers of workflows, on NOVA's bus and on the account's own. */
  rules: string[];
  /** The one thing that those rules may call. */
  firing: string;
  /** Of whatever is on NOVA's bus, the stacks' rules among it. */
  rulesOfBus: string;
  group: string;
  schedules: string;
  /** What Scheduler calls functions as. */
  schedulesRole: string;
}

export function eventArns(stack: Stack): EventArns {
  const events = (resource: string, resourceName: string) =>
    stack.formatArn({ service: "events", resource, resourceName });
  const scheduler = (resource: string, resourceName: string) =>
    stack.formatArn({ service: "scheduler", resource, resourceName });
  return {
    bus: events("event-bus", ownName),
    rules: [events("rule", `${ownName}/nova-*`), events("rule", "nova-*")],
    firing: functionArn(stack, "nova-fire-trigger"),
    rulesOfBus: events("rule", `${ownName}/*`),
    group: scheduler("schedule-group", ownName),
    schedules: scheduler("schedule", `${ownName}/nova-*`),
    schedulesRole: roleArn(stack, "schedules"),
  };
}
