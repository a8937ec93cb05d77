import { NagSuppressions } from "cdk-nag";
import type { IConstruct } from "constructs";

/**
 * Suppresses a finding of cdk-nag's AwsSolutions with a reason. `only` names the exact finding (an action or a resource
 * with a wildcard), so that other findings of the same rule are still reported.
 */
export function explain(
  construct: IConstruct,
  id: string,
  reason: string,
  only?: (string | { regex: string })[],
): void {
  NagSuppressions.addResourceSuppressions(construct, [{ id, reason, ...(only && { appliesTo: only }) }], true);
}
