import { ArnFormat, type Stack } from "aws-cdk-lib/core";
import { roleArn } from "./roles.ts";

/** ARNs of the state machines that publishing makes: `nova-<workflow>`, which is no resource of any stack. */
export interface MachineArns {
  all: string;
  versions: string;
  /** Of their executions, those that items of a distributed map run in included. */
  executions: string;
  /** What they run as. */
  role: string;
}

const prefix = "nova-";

export function machineArns(stack: Stack): MachineArns {
  const all = machineArn(stack, `${prefix}*`);
  const executions = stack.formatArn({
    service: "states",
    resource: "execution",
    resourceName: `${prefix}*:*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  return { all, versions: `${all}:*`, executions, role: roleArn(stack, "machines") };
}

/** Beginning of the ARNs, as an event pattern takes it. */
export function machineArnPrefix(stack: Stack): string {
  return machineArn(stack, prefix);
}

function machineArn(stack: Stack, resourceName: string): string {
  return stack.formatArn({
    service: "states",
    resource: "stateMachine",
    resourceName,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
}
