import { type Conditions, Effect, Policy, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { ArnFormat, type Stack } from "aws-cdk-lib/core";
import { NagSuppressions } from "cdk-nag";
import type { IConstruct } from "constructs";

export function allow(
  service: string,
  actions: readonly string[],
  resources: readonly string[],
  conditions?: Conditions,
): PolicyStatement {
  return new PolicyStatement({
    effect: Effect.ALLOW,
    actions: actions.map((action) => `${service}:${action}`),
    resources: [...resources],
    ...(conditions && { conditions }),
  });
}

/** Returns a statement that allows calls of only these functions. */
export function allowInvoke(functions: readonly IFunction[]): PolicyStatement {
  const arns = functions.map(({ functionArn }) => functionArn);
  return allow("lambda", ["InvokeFunction"], arns);
}

interface RoleParts {
  service: string;
  conditions?: Conditions;
  /** A fixed name, by which other stacks refer to the role. */
  roleName?: string | undefined;
  statements: PolicyStatement[];
}

/** Creates a role for a service, with all its permissions in one policy. */
export function createServiceRole(stack: Stack, roleId: string, policyId: string, parts: RoleParts) {
  const { service, conditions = {}, roleName, statements } = parts;
  const assumedBy = new ServicePrincipal(service, { conditions });
  const role = new Role(stack, roleId, { assumedBy, ...(roleName !== undefined && { roleName }) });
  const policy = new Policy(stack, policyId, { statements });
  role.attachInlinePolicy(policy);
  return { role, policy };
}

/**
 * Suppresses a finding of cdk-nag's AwsSolutions with a reason. If `only` names the exact finding (an action or a
 * resource with a wildcard), cdk-nag still reports other findings of the same rule.
 */
export function explain(construct: IConstruct, id: string, reason: string, only?: (string | { regex: string })[]) {
  NagSuppressions.addResourceSuppressions(construct, [{ id, reason, ...(only && { appliesTo: only }) }], true);
}

/**
 * Roles with fixed names, so that other resources can refer to them before they exist. `erase` erases contents of
 * chains, state machines have the role `machines`, and Scheduler calls functions with the role `schedules`.
 */
type NamedRole = "erase" | "machines" | "schedules";

export function roleName(stack: Stack, role: NamedRole): string {
  return `nova-${role}-${stack.region}`;
}

export function roleArn(stack: Stack, role: NamedRole): string {
  return stack.formatArn({ service: "iam", region: "", resource: "role", resourceName: roleName(stack, role) });
}

/** Returns the ARN of a function's alias. The ARN is known before the function exists. */
export function functionArn(stack: Stack, name: string): string {
  return stack.formatArn({
    service: "lambda",
    resource: "function",
    resourceName: `${name}:live`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
}

const machinePrefix = "nova-";

/**
 * Returns the ARNs of the state machines `nova-<workflow>`. A publication creates these state machines, so no stack
 * contains them.
 */
export function machineArns(stack: Stack) {
  const all = machineArn(stack, `${machinePrefix}*`);
  // The pattern includes the executions for items of a distributed map.
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

/** Returns the common start of the ARNs of all state machines `nova-<workflow>`, for an event pattern. */
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

/** Name of NOVA's bus and of the group of its schedules. */
export const novaName = "nova";

/**
 * Returns the ARNs of rules and schedules that start runs. packages/aws creates and names these rules and schedules.
 */
export function eventArns(stack: Stack) {
  const events = (resource: string, resourceName: string) =>
    stack.formatArn({ service: "events", resource, resourceName });
  const scheduler = (resource: string, resourceName: string) =>
    stack.formatArn({ service: "scheduler", resource, resourceName });
  return {
    bus: events("event-bus", novaName),
    /** Rules of triggers, on NOVA's bus and on the account's default bus. */
    rules: [events("rule", `${novaName}/nova-*`), events("rule", "nova-*")],
    /** The function that is the only target of these rules. */
    firing: functionArn(stack, "nova-fire-trigger"),
    /** All rules on NOVA's bus, including the rules that the stacks create. */
    rulesOfBus: events("rule", `${novaName}/*`),
    group: scheduler("schedule-group", novaName),
    schedules: scheduler("schedule", `${novaName}/nova-*`),
    schedulesRole: roleArn(stack, "schedules"),
  };
}

export type EventArns = ReturnType<typeof eventArns>;

export type SecretName = "E2B_API_KEY" | "OPENAI_API_KEY";

/** Returns the name of the parameter in which the operator stores a key: `/nova/production/E2B_API_KEY`. */
export function parameterName(stage: string, secret: SecretName): string {
  return `/nova/${stage}/${secret}`;
}
