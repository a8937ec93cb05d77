import { invalid } from "../errors.ts";
import type { Input } from "./input.ts";

/** What expressions replaced in 2014; the service still takes it, no client of ours should. */
const replacements: Record<string, string> = {
  AttributesToGet: "ProjectionExpression",
  AttributeUpdates: "UpdateExpression",
  ConditionalOperator: "AND and OR in an expression",
  Expected: "ConditionExpression",
  KeyConditions: "KeyConditionExpression",
  QueryFilter: "FilterExpression",
  ScanFilter: "FilterExpression",
};

const legacy = Object.entries(replacements);

export function refuseLegacy(input: Input): void {
  for (const [field, replacement] of legacy) {
    if (input.has(field)) {
      throw invalid(`The legacy parameter ${field} is not supported by the local DynamoDB - use ${replacement}`);
    }
  }
}
