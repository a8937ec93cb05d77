import { randomUUID } from "node:crypto";
import { DynamoDbError, invalid, invalidParameter } from "../errors.ts";
import { tableName } from "../request/common.ts";
import {
  type AttributeDefinitions,
  type IndexDefinition,
  readAttributeDefinitions,
  readIndex,
  readKeySchema,
} from "../request/definitions.ts";
import type { Input } from "../request/input.ts";
import type { Store } from "../store/store.ts";
import type { TableDescription } from "../store/table.ts";
import type { Answer } from "./answer.ts";
import { arnOf, describedIndex, noThroughput } from "./describe.ts";

/** A table is made at once; only the answer says, as the cloud's does, that it is being created. */
export function createTable(store: Store, input: Input): Answer {
  const name = tableName(input);
  const definition = readDefinition(input, name);
  if (store.tables.find(name)) {
    throw new DynamoDbError("ResourceInUseException", `Table already exists: ${name}`);
  }
  store.atomically(() => store.tables.create(definition));
  return { TableDescription: { ...definition, TableStatus: "CREATING" } };
}

function readDefinition(input: Input, name: string): TableDescription {
  const AttributeDefinitions = readAttributeDefinitions(input);
  const KeySchema = readKeySchema(input, AttributeDefinitions);
  const indexes = readIndexes(input, AttributeDefinitions);
  checkAllUsed(AttributeDefinitions, [KeySchema, ...indexes.map((index) => index.KeySchema)]);
  return {
    TableName: name,
    TableArn: arnOf(name),
    TableId: randomUUID(),
    TableStatus: "ACTIVE",
    CreationDateTime: Date.now() / 1000,
    AttributeDefinitions,
    KeySchema,
    ...readBilling(input),
    DeletionProtectionEnabled: input.flag("DeletionProtectionEnabled") ?? false,
    ...(indexes.length > 0 && { GlobalSecondaryIndexes: indexes.map((index) => describedIndex(name, index)) }),
    ItemCount: 0,
    TableSizeBytes: 0,
  };
}

/** DynamoDB: indexes of a table. */
const maxIndexes = 20;

function readIndexes(input: Input, definitions: AttributeDefinitions): IndexDefinition[] {
  const indexes = input.structures("GlobalSecondaryIndexes")?.map((index) => readIndex(index, definitions)) ?? [];
  if (indexes.length === 0 && input.has("GlobalSecondaryIndexes")) {
    throw invalidParameter("List of GlobalSecondaryIndexes is empty");
  }
  const names = indexes.map(({ IndexName }) => IndexName);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined) throw invalidParameter(`Duplicate index name: ${twice}`);
  if (indexes.length <= maxIndexes) return indexes;
  throw invalidParameter(`GlobalSecondaryIndex count exceeds the per-table limit of ${maxIndexes}`);
}

function readBilling(input: Input): Pick<TableDescription, "BillingModeSummary" | "ProvisionedThroughput"> {
  const BillingMode = input.choice("BillingMode", ["PROVISIONED", "PAY_PER_REQUEST"]);
  if (BillingMode !== "PAY_PER_REQUEST") {
    throw invalid("A table of the local DynamoDB has no throughput - use BillingMode PAY_PER_REQUEST");
  }
  const BillingModeSummary = { BillingMode, LastUpdateToPayPerRequestDateTime: Date.now() / 1000 };
  return { BillingModeSummary, ProvisionedThroughput: noThroughput };
}

function checkAllUsed(definitions: TableDescription["AttributeDefinitions"], schemas: TableDescription["KeySchema"][]) {
  const used = new Set(schemas.flat().map(({ AttributeName }) => AttributeName));
  const names = definitions.map(({ AttributeName }) => AttributeName);
  if (names.every((name) => used.has(name))) return;
  if (schemas.length === 1) {
    const what = "Number of attributes in KeySchema does not exactly match number of attributes";
    throw invalidParameter(`${what} defined in AttributeDefinitions`);
  }
  const lists = `AttributeDefinitions: [${names.join(", ")}], keys used: [${[...used].join(", ")}]`;
  throw invalid(`One or more parameter values were invalid: Some AttributeDefinitions are not used. ${lists}`);
}
