import { NagSuppressions } from "cdk-nag";
import type { IConstruct } from "constructs";

/**
 * Says why a finding of cdk-nag's AwsSolutions is right as it is. `only` names the very finding (an action or a resource
 * with a wildcard), so that the next one of the same rule is found.
 */
export function explain(
  construct: IConstruct,
  id: string,
  reason: string,
  only?: (string | { regex: string })[],
): void {
  NagSuppressions.addResourceSuppressions(construct, [{ id, reason, ...(only && { appliesTo: only }) }], true);
}
