import { AnyPrincipal, Effect, PolicyStatement } from "aws-cdk-lib/aws-iam";
import { chainPartitions } from "../access/partitions.ts";

/** Whatever changes or removes an item; BatchWriteItem cannot be told from what it deletes. */
const changing = [
  "dynamodb:UpdateItem",
  "dynamodb:DeleteItem",
  "dynamodb:BatchWriteItem",
  "dynamodb:PartiQLUpdate",
  "dynamodb:PartiQLDelete",
];

/**
 * Nobody of the account may change or delete an entry of a chain, administrators included. What IAM cannot say is that
 * a PutItem replaces nothing: that the engine's conditions do, and where they are left out `nova verify` tells.
 */
export function chainStays(): PolicyStatement {
  return new PolicyStatement({
    sid: "ChainStays",
    effect: Effect.DENY,
    principals: [new AnyPrincipal()],
    actions: changing,
    // The table itself: a policy of a table that named it by reference would be circular.
    resources: ["*"],
    conditions: { "ForAnyValue:StringLike": { "dynamodb:LeadingKeys": chainPartitions } },
  });
}
