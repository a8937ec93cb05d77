import type { PolicyStatement } from "aws-cdk-lib/aws-iam";
import { allow } from "../allow.ts";
import type { Grantable } from "../grantable.ts";

/** What may be done with state machines and their executions. */
export const machineGrants = {
  "run starts": ({ machines }) => allow("states", ["StartExecution"], [machines.all, machines.versions]),
  runs: ({ machines }) => allow("states", ["DescribeExecution"], [machines.executions]),
  "ends of runs": ({ machines }) => allow("states", ["StopExecution"], [machines.executions]),
  "run lists": ({ machines }) => allow("states", ["ListExecutions"], [machines.all]),
  "task answers": ({ machines }) => allow("states", ["SendTaskSuccess"], [machines.all]),
  "machine versions": ({ machines }) => allow("states", ["ListStateMachineVersions"], [machines.all]),
  machines: ({ machines }) =>
    allow("states", ["CreateStateMachine", "UpdateStateMachine", "PublishStateMachineVersion"], [machines.all]),
  "old machines": ({ machines }) => allow("states", ["DeleteStateMachineVersion"], [machines.all, machines.versions]),
  "what machines run as": ({ machines }) =>
    allow("iam", ["PassRole"], [machines.role], passedTo("states.amazonaws.com")),
} satisfies Record<string, (to: Grantable) => PolicyStatement>;

/** A role is handed to one service and to nobody else. */
export function passedTo(service: string) {
  return { StringEquals: { "iam:PassedToService": service } };
}
