import { invalidParameter } from "../errors.ts";
import type { IndexDefinition } from "../request/definitions.ts";
import type { KeySchemaElement } from "../store/table.ts";

/** DynamoDB's limits per table. */
const mostLocal = 5;
const mostGlobal = 20;

export function checkLocalIndexes(indexes: IndexDefinition[], [hash, sort]: KeySchemaElement[]): void {
  if (indexes.length > 0 && !sort) {
    const what = "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex";
    throw invalidParameter(what);
  }
  for (const { IndexName, KeySchema } of indexes) {
    if (KeySchema.length !== 2)
      throw invalidParameter(`Index KeySchema does not have a range key for index: ${IndexName}`);
    const [own, table] = [KeySchema[0]?.AttributeName, hash?.AttributeName];
    if (own === table) continue;
    const what = "Index KeySchema does not have the same leading hash key as table KeySchema";
    throw invalidParameter(`${what} for index: ${IndexName}. index hash key: ${own}, table hash key: ${table}`);
  }
  checkNames(indexes);
  if (indexes.length <= mostLocal) return;
  throw invalidParameter(`Number of LocalSecondaryIndexes exceeds per-table limit of ${mostLocal}`);
}

export function checkGlobalIndexes(indexes: IndexDefinition[], others: IndexDefinition[], isPaidPerRequest: boolean) {
  for (const { IndexName, ProvisionedThroughput } of indexes) {
    if (isPaidPerRequest && ProvisionedThroughput) {
      const what = "ProvisionedThroughput should not be specified for index";
      throw invalidParameter(`${what}: ${IndexName} when BillingMode is PAY_PER_REQUEST`);
    }
    if (isPaidPerRequest || ProvisionedThroughput) continue;
    throw invalidParameter(`ProvisionedThroughput must be specified for index: ${IndexName}`);
  }
  checkNames([...others, ...indexes]);
  if (indexes.length <= mostGlobal) return;
  throw invalidParameter(`GlobalSecondaryIndex count exceeds the per-table limit of ${mostGlobal}`);
}

function checkNames(indexes: IndexDefinition[]): void {
  const names = indexes.map(({ IndexName }) => IndexName);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw invalidParameter(`Duplicate index name: ${twice}`);
}
