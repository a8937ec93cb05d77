import { AnyPrincipal, Effect, PolicyStatement } from "aws-cdk-lib/aws-iam";
import { chains } from "../access/partitions.ts";

/** Whatever removes an item; BatchWriteItem cannot be told from what it deletes. */
const removing = ["dynamodb:DeleteItem", "dynamodb:BatchWriteItem", "dynamodb:PartiQLUpdate", "dynamodb:PartiQLDelete"];

const inChains = { "ForAnyValue:StringLike": { "dynamodb:LeadingKeys": chains } };

/**
 * Nobody of the account may delete an entry of a chain, administrators included, and but for `eraser`, the ARN of the
 * role that takes contents away on request, nobody may change one. No condition of DynamoDB's policies says that a PutItem
 * replaces nothing, and a restored backup has to be put by somebody. So an entry can be overwritten by whoever may put:
 * NOVA's functions put on condition that nothing is there, and of anybody else's put in a finished run `nova verify` says
 * `broken`, since a new end takes the signing key (docs/guarantees.md).
 */
export function chainStays(eraser: string): PolicyStatement[] {
  const changes = denied("ChainStaysAsItIs", ["dynamodb:UpdateItem"]);
  changes.addCondition("ArnNotEquals", { "aws:PrincipalArn": eraser });
  return [denied("ChainStays", removing), changes];
}

function denied(sid: string, actions: string[]): PolicyStatement {
  return new PolicyStatement({
    ...{ sid, actions, effect: Effect.DENY, principals: [new AnyPrincipal()] },
    // The table itself: a policy of a table that named it by reference would be circular.
    resources: ["*"],
    conditions: inChains,
  });
}
