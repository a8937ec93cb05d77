import { createHash } from "node:crypto";

/** Step Functions: at most 80 characters. */
const longest = 80;

/** Name of a state machine; one that does not fit is cut and told from others by a hash. */
export function stateMachineName(name: string): string {
  if (name.length <= longest) return name;
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 12);
  return `${name.slice(0, longest - 1 - hash.length)}-${hash}`;
}

export interface MachineHome {
  partition: string;
  region: string;
  account: string;
}

export function stateMachineArn({ partition, region, account }: MachineHome, name: string): string {
  return `arn:${partition}:states:${region}:${account}:stateMachine:${name}`;
}

/** `arn:aws:iam::123456789012:role/...` says where we are, but for the region. */
export function homeOf(roleArn: string, region: string): MachineHome {
  const [, partition = "aws", , , account = ""] = roleArn.split(":");
  return { partition, region, account };
}

/** ARN of the machine itself; `machineArn` may name a version or not. */
export function unversioned(machineArn: string): string {
  return machineArn.split(":").slice(0, 7).join(":");
}

/** ARN of a run; `machineArn` may name a version or not, the run's ARN never does. */
export function executionArn(machineArn: string, name: string): string {
  const [arn, partition, states, region, account, , machine] = machineArn.split(":");
  return [arn, partition, states, region, account, "execution", machine, name].join(":");
}
