import { tableDefinition } from "@nova/aws/table";
import { AttributeType, BillingMode, ProjectionType, Table } from "aws-cdk-lib/aws-dynamodb";
import { AnyPrincipal, Effect, PolicyDocument, PolicyStatement } from "aws-cdk-lib/aws-iam";
import { Key, KeySpec, KeyUsage } from "aws-cdk-lib/aws-kms";
import { Duration, Stack } from "aws-cdk-lib/core";
import type { Construct } from "constructs";
import { roleArn } from "../access/arns.ts";
import { chains } from "../access/partitions.ts";
import { explain } from "../findings.ts";
import type { Stage } from "../stage.ts";

/**
 * All operations that can remove an item. A policy cannot distinguish a BatchWriteItem with deletes from one with puts.
 */
const removing = ["dynamodb:DeleteItem", "dynamodb:BatchWriteItem", "dynamodb:PartiQLUpdate", "dynamodb:PartiQLDelete"];

const inChains = { "ForAnyValue:StringLike": { "dynamodb:LeadingKeys": chains } };

/**
 * Denies everyone in the account, even administrators, to delete an entry of a chain. Only `eraser`, the ARN of the
 * role that erases contents on request, may change one. Policies of DynamoDB cannot require that a PutItem replaces
 * nothing, and restoring a backup needs puts, so a principal with permission to put can overwrite an entry. NOVA's
 * functions put only new items. If another principal puts into a finished run, `nova verify` reports `broken`: a new
 * end needs the signing key (docs/guarantees.md).
 */
export function chainStays(eraser: string): PolicyStatement[] {
  const changes = denied("ChainStaysAsItIs", ["dynamodb:UpdateItem"]);
  changes.addCondition("ArnNotEquals", { "aws:PrincipalArn": eraser });
  return [denied("ChainStays", removing), changes];
}

function denied(sid: string, actions: string[]): PolicyStatement {
  return new PolicyStatement({
    sid,
    actions,
    effect: Effect.DENY,
    principals: [new AnyPrincipal()],
    // `*` is the table itself: naming it would be a circular reference.
    resources: ["*"],
    conditions: inChains,
  });
}

/** Creates the one table, as `packages/aws` defines it. */
export function createTable(scope: Construct, stage: Stage): Table {
  const table = new Table(scope, "Table", {
    partitionKey: text(tableDefinition.partitionKey),
    sortKey: text(tableDefinition.sortKey),
    billingMode: BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: stage.isProduction },
    deletionProtection: stage.isProduction,
    removalPolicy: stage.removal,
    timeToLiveAttribute: "expiresAt",
    resourcePolicy: new PolicyDocument({ statements: chainStays(roleArn(Stack.of(scope), "erase")) }),
  });
  for (const { name, partitionKey, sortKey } of tableDefinition.indexes) {
    table.addGlobalSecondaryIndex({
      indexName: name,
      partitionKey: text(partitionKey),
      sortKey: text(sortKey),
      projectionType: ProjectionType.ALL,
    });
  }
  if (!stage.isProduction) explain(table, "AwsSolutions-DDB3", "A personal stage needs no recovery.");
  return table;
}

function text(name: string) {
  return { name, type: AttributeType.STRING };
}

export interface Keys {
  /** Signs the last entry of a chain with HMAC. */
  signing: Key;
  /** Encrypts task tokens and the data keys of credentials. */
  vault: Key;
}

export function createKeys(scope: Construct, { removal, isProduction }: Stage): Keys {
  const common = { removalPolicy: removal, ...(!isProduction && { pendingWindow: Duration.days(7) }) };
  const signing = new Key(scope, "SigningKey", {
    ...common,
    description: "NOVA: signs the last link of each chain of work",
    keySpec: KeySpec.HMAC_256,
    keyUsage: KeyUsage.GENERATE_VERIFY_MAC,
  });
  const vault = new Key(scope, "VaultKey", {
    ...common,
    description: "NOVA: seals the task tokens of approvals, and credentials",
    enableKeyRotation: true,
  });
  return { signing, vault };
}
