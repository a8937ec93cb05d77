import { type Conditions, Effect, PolicyStatement } from "aws-cdk-lib/aws-iam";

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
