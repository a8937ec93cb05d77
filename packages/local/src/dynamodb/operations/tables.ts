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
import type { IndexDescription, TableDescription } from "../store/tables.ts";
import type { Answer } from "./answer.ts";

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

export function deleteTable(store: Store, input: Input): Answer {
  const table = store.tables.named(tableName(input));
  if (table.description.DeletionProtectionEnabled) {
    const what = "Resource cannot be deleted as it is currently protected against deletion.";
    throw invalid(`${what} Disable deletion protection first.`);
  }
  store.atomically(() => {
    for (const index of table.indexes) store.entries.clear(index.id);
    store.items.clear(table.id);
    store.tables.remove(table);
  });
  return { TableDescription: { ...table.description, TableStatus: "DELETING" } };
}

export function describeTable(store: Store, input: Input): Answer {
  return { Table: store.tables.named(tableName(input)).description };
}

export function listTables(store: Store, input: Input): Answer {
  const limit = input.integer("Limit", { least: 1, most: 100 }) ?? 100;
  const nameLimits = { least: 3, most: 255, pattern: "[a-zA-Z0-9_.-]+" };
  const start = input.optionalText("ExclusiveStartTableName", nameLimits) ?? "";
  const names = store.tables.names().filter((name) => name > start);
  const page = names.slice(0, limit);
  return { TableNames: page, LastEvaluatedTableName: names.length > limit ? page.at(-1) : undefined };
}

export const noThroughput = { NumberOfDecreasesToday: 0, ReadCapacityUnits: 0, WriteCapacityUnits: 0 };

/** The account is nobody's; the region is that of the caller's environment. */
export function arnOf(table: string): string {
  return `arn:aws:dynamodb:${process.env.AWS_REGION ?? "us-east-1"}:000000000000:table/${table}`;
}

export function describedIndex(table: string, index: IndexDefinition): IndexDescription {
  return {
    ...index,
    ProvisionedThroughput: noThroughput,
    IndexArn: `${arnOf(table)}/index/${index.IndexName}`,
    IndexSizeBytes: 0,
    ItemCount: 0,
    IndexStatus: "ACTIVE",
  };
}
