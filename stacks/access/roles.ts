import type { Stack } from "aws-cdk-lib/core";

/**
 * Roles that are known by their names, before there is one: what takes contents out of chains, what state machines run
 * as, and what Scheduler calls functions as.
 */
export type NamedRole = "erase" | "machines" | "schedules";

export function roleName(stack: Stack, role: NamedRole): string {
  return `nova-${role}-${stack.region}`;
}

export function roleArn(stack: Stack, role: NamedRole): string {
  return stack.formatArn({ service: "iam", region: "", resource: "role", resourceName: roleName(stack, role) });
}
