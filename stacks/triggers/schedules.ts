import { ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { CfnScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import { allow, allowInvoke, createServiceRole } from "../access/allow.ts";
import { type EventArns, novaName, roleName } from "../access/arns.ts";
import type { Grantable } from "../access/grants.ts";
import type { Stack } from "../sst.ts";

/** Allows rules of triggers, which publications create and delete, to invoke the function that starts runs. */
export function allowTriggerRules(fire: IFunction, { rules }: EventArns): void {
  const principal = new ServicePrincipal("events.amazonaws.com");
  for (const [at, sourceArn] of rules.entries()) fire.addPermission(`Rules${at}`, { principal, sourceArn });
}

/** Creates the group of trigger schedules, and the role by which Scheduler calls only these functions. */
export function createSchedules(stack: Stack, called: IFunction[], { events, undelivered }: Grantable): void {
  new CfnScheduleGroup(stack, "Schedules", { name: novaName });
  createServiceRole(stack, "SchedulesRole", "SchedulesPolicy", {
    service: "scheduler.amazonaws.com",
    roleName: roleName(stack, "schedules"),
    conditions: { StringEquals: { "aws:SourceAccount": stack.account, "aws:SourceArn": events.group } },
    statements: [allowInvoke(called), allow("sqs", ["SendMessage"], [undelivered.queueArn])],
  });
}
