import { tableDefinition } from "@nova/aws/table";
import { AttributeType, BillingMode, ProjectionType, Table } from "aws-cdk-lib/aws-dynamodb";
import { PolicyDocument } from "aws-cdk-lib/aws-iam";
import { Stack } from "aws-cdk-lib/core";
import type { Construct } from "constructs";
import { roleArn } from "../access/roles.ts";
import { explain } from "../findings.ts";
import type { Stage } from "../stage.ts";
import { chainStays } from "./chain-stays.ts";

/** The one table, as `packages/aws` says that it is. */
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
  if (!stage.isProduction) explain(table, "AwsSolutions-DDB3", "Nothing on a stage of one person has to come back.");
  return table;
}

function text(name: string) {
  return { name, type: AttributeType.STRING };
}
