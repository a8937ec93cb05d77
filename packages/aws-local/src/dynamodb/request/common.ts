import type { Request } from "../../aws-http/request.ts";
import { invalid } from "../errors.ts";
import { admitAttributes } from "../values/admit.ts";
import type { AttributeMap, Attributes } from "../values/attribute-value.ts";

const pattern = "[a-zA-Z0-9_.-]+";
/** Limits for names of tables and indexes. */
export const nameLimits = { least: 3, most: 255, pattern };

export function tableName(input: Request): string {
  const name = input.text("TableName", { pattern });
  checkTableName(name);
  return name;
}

export function checkTableName(name: string): void {
  if (name.length >= 3 && name.length <= 255 && /^[a-zA-Z0-9_.-]+$/.test(name)) return;
  throw invalid("TableName must be at least 3 characters long and at most 255 characters long");
}

/** DynamoDB's limit for the size of an item, names and values together. */
export const largestItemBytes = 400 * 1024;

/**
 * Parameters that the emulator refuses, each with the advice in its error message. Since 2014, expressions replace most
 * of these parameters.
 */
const unserved = Object.entries({
  AttributesToGet: "use ProjectionExpression",
  AttributeUpdates: "use UpdateExpression",
  ConditionalOperator: "use AND and OR in an expression",
  Expected: "use ConditionExpression",
  KeyConditions: "use KeyConditionExpression",
  QueryFilter: "use FilterExpression",
  ScanFilter: "use FilterExpression",
  Select: "count the items, or use ProjectionExpression",
  ReturnValuesOnConditionCheckFailure: "read the item afterwards",
  DeletionProtectionEnabled: "a laptop's table needs none",
  LocalSecondaryIndexes: "use GlobalSecondaryIndexes",
  ProvisionedThroughput: "use BillingMode PAY_PER_REQUEST",
  Segment: "scan the table in one go",
  TotalSegments: "scan the table in one go",
});

export function refuseUnserved(input: Request): void {
  for (const [field, advice] of unserved) {
    if (input.has(field)) throw invalid(`The parameter ${field} is not supported by the local DynamoDB - ${advice}`);
  }
  const capacity = input.choice("ReturnConsumedCapacity", ["INDEXES", "TOTAL", "NONE"]);
  if (capacity === undefined || capacity === "NONE") return;
  throw invalid("The local DynamoDB consumes no capacity - leave ReturnConsumedCapacity out");
}

/** Reads and checks the attributes of a field. */
export function optionalAttributes(input: Request, name: string): Attributes | undefined {
  const attributes = input.map(name);
  return attributes && { bytes: admitAttributes(attributes), attributes: attributes as AttributeMap };
}

export function attributesIn(input: Request, name: string): Attributes {
  const found = optionalAttributes(input, name);
  if (found) return found;
  throw input.missing(name);
}
