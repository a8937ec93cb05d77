import { Policy, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { CfnSchedule } from "aws-cdk-lib/aws-scheduler";
import type { Stack } from "sst/constructs";
import { allow } from "../access/allow.ts";

export interface Work {
  description: string;
  /** As Scheduler has it: `rate(1 minute)`. */
  every: string;
  work: IFunction;
}

/** Has a function do its work again and again; the next time is the retry. */
export function schedule(stack: Stack, id: string, { description, every, work }: Work): void {
  const role = new Role(stack, `${id}ScheduleRole`, {
    assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
      conditions: { StringEquals: { "aws:SourceAccount": stack.account } },
    }),
  });
  const policy = new Policy(stack, `${id}SchedulePolicy`, {
    statements: [allow("lambda", ["InvokeFunction"], [work.functionArn])],
  });
  role.attachInlinePolicy(policy);
  const target = { arn: work.functionArn, roleArn: role.roleArn, retryPolicy: { maximumRetryAttempts: 0 } };
  const made = new CfnSchedule(stack, `${id}Schedule`, {
    ...{ description, scheduleExpression: every, flexibleTimeWindow: { mode: "OFF" }, target },
  });
  made.node.addDependency(policy);
}
