import { type Conditions, Effect, Policy, PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { Stack } from "../sst.ts";

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

/** Allows a role to call these functions only. */
export function allowInvoke(functions: readonly IFunction[]): PolicyStatement {
  const arns = functions.map(({ functionArn }) => functionArn);
  return allow("lambda", ["InvokeFunction"], arns);
}

interface RoleParts {
  /** Principal such as `lambda.amazonaws.com`. */
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
