import { Policy, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { CfnSchedule } from "aws-cdk-lib/aws-scheduler";
import type { Stack } from "sst/constructs";
import { allow } from "../access/allow.ts";

/** Every minute: a start that was lost is repeated half a minute later at the earliest, so two minutes at the latest. */
export function scheduleSweep(stack: Stack, sweep: IFunction): void {
  const role = new Role(stack, "SweepScheduleRole", {
    assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
      conditions: { StringEquals: { "aws:SourceAccount": stack.account } },
    }),
  });
  const policy = new Policy(stack, "SweepSchedulePolicy", {
    statements: [allow("lambda", ["InvokeFunction"], [sweep.functionArn])],
  });
  role.attachInlinePolicy(policy);
  const schedule = new CfnSchedule(stack, "SweepSchedule", {
    description: "Closes what died, and repeats what was lost",
    scheduleExpression: "rate(1 minute)",
    flexibleTimeWindow: { mode: "OFF" },
    // The next minute is the retry.
    target: { arn: sweep.functionArn, roleArn: role.roleArn, retryPolicy: { maximumRetryAttempts: 0 } },
  });
  schedule.node.addDependency(policy);
}
