import { ArnFormat, type Stack } from "aws-cdk-lib/core";

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

/** Of the alias under which a function is known, before there is one. */
export function functionArn(stack: Stack, name: string): string {
  return stack.formatArn({
    service: "lambda",
    resource: "function",
    resourceName: `${name}:live`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
}

const machinePrefix = "nova-";

/** ARNs of the state machines that publishing makes: `nova-<workflow>`, which is no resource of any stack. */
export function machineArns(stack: Stack) {
  const all = machineArn(stack, `${machinePrefix}*`);
  // Those that items of a distributed map run in included.
  const executions = stack.formatArn({
    service: "states",
    resource: "execution",
    resourceName: `${machinePrefix}*:*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  const drafts = machineArn(stack, `${machinePrefix}draft-*`);
  return { all, drafts, versions: `${all}:*`, executions, role: roleArn(stack, "machines") };
}

export type MachineArns = ReturnType<typeof machineArns>;

/** Beginning of the ARNs, as an event pattern takes it. */
export function machineArnPrefix(stack: Stack): string {
  return machineArn(stack, machinePrefix);
}

function machineArn(stack: Stack, resourceName: string): string {
  return stack.formatArn({
    service: "states",
    resource: "stateMachine",
    resourceName,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
}

/** NOVA's bus, and the group of its schedules. */
export const ownName = "nova";

/** ARNs of what makes runs begin by themselves; packages/aws makes the rules and schedules, by names of its own. */
export function eventArns(stack: Stack) {
  const events = (resource: string, resourceName: string) =>
    stack.formatArn({ service: "events", resource, resourceName });
  const scheduler = (resource: string, resourceName: string) =>
    stack.formatArn({ service: "scheduler", resource, resourceName });
  return {
    bus: events("event-bus", ownName),
    /** Of triggers of workflows, on NOVA's bus and on the account's own. */
    rules: [events("rule", `${ownName}/nova-*`), events("rule", "nova-*")],
    /** The one thing that those rules may call. */
    firing: functionArn(stack, "nova-fire-trigger"),
    /** Of whatever is on NOVA's bus, the stacks' rules among it. */
    rulesOfBus: events("rule", `${ownName}/*`),
    group: scheduler("schedule-group", ownName),
    schedules: scheduler("schedule", `${ownName}/nova-*`),
    schedulesRole: roleArn(stack, "schedules"),
  };
}

export type EventArns = ReturnType<typeof eventArns>;

export type SecretName = "E2B_API_KEY" | "OPENAI_API_KEY";

/** Where whoever deploys puts a key: `/nova/production/E2B_API_KEY`. */
export function parameterName(stage: string, secret: SecretName): string {
  return `/nova/${stage}/${secret}`;
}
