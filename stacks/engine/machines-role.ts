import type { Role } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import { allow, allowInvoke, createServiceRole } from "../access/allow.ts";
import { type MachineArns, roleName } from "../access/arns.ts";
import { explain } from "../findings.ts";
import type { Stack } from "../sst.ts";

/** The functions that state machines call; packages/compiler names no others. */
export const calledByMachines = [
  "nova-run-node",
  "nova-settle-node",
  "nova-close-execution",
  "nova-request-approval",
] as const;

/** The rule that reports the end of an execution of `startExecution.sync`. Step Functions creates it. */
const endsOfExecutions = "StepFunctionsGetEventsForStepFunctionsExecutionRule";

const logDelivery = [
  "CreateLogDelivery",
  "GetLogDelivery",
  "UpdateLogDelivery",
  "DeleteLogDelivery",
  "ListLogDeliveries",
];
const logPolicies = ["PutResourcePolicy", "DescribeResourcePolicies", "DescribeLogGroups"];
const tracing = ["PutTraceSegments", "PutTelemetryRecords", "GetSamplingRules", "GetSamplingTargets"];

/**
 * Creates the role of all state machines. `called` are aliases, so that a run never calls a partly deployed function.
 */
export function createMachinesRole(stack: Stack, called: IFunction[], machines: MachineArns, bucket: Bucket): Role {
  const rule = stack.formatArn({ service: "events", resource: "rule", resourceName: endsOfExecutions });
  const { role, policy } = createServiceRole(stack, "MachinesRole", "MachinesPolicy", {
    service: "states.amazonaws.com",
    roleName: roleName(stack, "machines"),
    conditions: {
      StringEquals: { "aws:SourceAccount": stack.account },
      ArnLike: { "aws:SourceArn": [machines.all, machines.executions] },
    },
    statements: [
      allowInvoke(called),
      allow("states", ["StartExecution"], [machines.all, machines.versions]),
      allow("states", ["DescribeExecution", "StopExecution"], [machines.executions]),
      allow("events", ["PutTargets", "PutRule", "DescribeRule"], [rule]),
      allow("s3", ["GetObject"], [bucket.arnForObjects("blobs/*")]),
      allow("logs", [...logDelivery, ...logPolicies], ["*"]),
      allow("xray", tracing, ["*"]),
    ],
  });
  explain(policy, "AwsSolutions-IAM5", "Machines run each other's workflows and items of their own maps.", [
    { regex: "/^Resource::arn:.*:states:.*:(stateMachine|execution):nova-\\*(:\\*)?$/" },
  ]);
  explain(policy, "AwsSolutions-IAM5", "The numbers of a map's items are a blob.", [{ regex: "/\\/blobs\\/\\*$/" }]);
  explain(policy, "AwsSolutions-IAM5", "Neither log deliveries nor X-Ray know resources.", ["Resource::*"]);
  return role;
}
