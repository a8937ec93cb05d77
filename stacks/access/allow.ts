import { type Conditions, Effect, Policy, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { Stack } from "sst/constructs";

/** A statement of a role. */
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

/** Lets a role call these functions, and no others. */
export function invoking(functions: readonly IFunction[]): PolicyStatement {
  const arns = functions.map(({ functionArn }) => functionArn);
  return allow("lambda", ["InvokeFunction"], arns);
}

interface RoleParts {
  /** Such as `lambda.amazonaws.com`. */
  service: string;
  conditions?: Conditions;
  /** By which others know it. */
  roleName?: string | undefined;
  statements: PolicyStatement[];
}

/** A role that a service takes, with all that it may do in one policy. */
export function roleOf(stack: Stack, roleId: string, policyId: string, parts: RoleParts) {
  const { service, conditions = {}, roleName, statements } = parts;
  const assumedBy = new ServicePrincipal(service, { conditions });
  const role = new Role(stack, roleId, { assumedBy, ...(roleName !== undefined && { roleName }) });
  const policy = new Policy(stack, policyId, { statements });
  role.attachInlinePolicy(policy);
  return { role, policy };
}
