import { randomUUID } from "node:crypto";
import { AwsError } from "../../aws-http/aws-error.ts";
import { arnOf, type Request } from "../../aws-http/request.ts";
import { invalid, invalidParameter } from "../errors.ts";
import { nameLimits, refuseUnserved, tableName } from "../request/common.ts";
import type { Store } from "../store/store.ts";
import type { KeySchemaElement } from "../store/tables.ts";
import type { Answer } from "./answer.ts";

/**
 * Creates a table, which can be used immediately. The response has the status CREATING all the same, as in the cloud.
 */
export function createTable(store: Store, input: Request): Answer {
  const name = tableName(input);
  const definition = readDefinition(input, name);
  if (store.tables.find(name)) {
    throw new AwsError("ResourceInUseException", `Table already exists: ${name}`);
  }
  store.atomically(() => store.tables.create(definition));
  return { TableDescription: { ...definition, TableStatus: "CREATING" } };
}

/**
 * Reads the definition of a table. ItemCount and TableSizeBytes are always 0: DynamoDB itself updates them only every
 * few hours, so no client can rely on them.
 */
function readDefinition(input: Request, name: string) {
  const AttributeDefinitions = input.neededStructures("AttributeDefinitions").map((definition) => ({
    AttributeName: definition.text("AttributeName", { least: 1, most: 255 }),
    AttributeType: definition.neededChoice("AttributeType", ["N", "S"]),
  }));
  const known = AttributeDefinitions.map(({ AttributeName }) => AttributeName);
  const indexes = (input.structures("GlobalSecondaryIndexes") ?? []).map((index) => readIndex(index, known));
  if (input.choice("BillingMode", ["PROVISIONED", "PAY_PER_REQUEST"]) !== "PAY_PER_REQUEST") {
    throw invalid("A table of the local DynamoDB has no throughput - use BillingMode PAY_PER_REQUEST");
  }
  return {
    TableName: name,
    TableArn: arnOf("dynamodb", `table/${name}`),
    TableId: randomUUID(),
    TableStatus: "ACTIVE",
    CreationDateTime: Date.now() / 1000,
    AttributeDefinitions,
    KeySchema: readKeySchema(input, known),
    BillingModeSummary: { BillingMode: "PAY_PER_REQUEST", LastUpdateToPayPerRequestDateTime: Date.now() / 1000 },
    ProvisionedThroughput: noThroughput,
    DeletionProtectionEnabled: false,
    ...(indexes.length > 0 && { GlobalSecondaryIndexes: indexes.map((index) => describedIndex(name, index)) }),
    ItemCount: 0,
    TableSizeBytes: 0,
  };
}

function readKeySchema(input: Request, known: string[]): KeySchemaElement[] {
  const schema = input.neededStructures("KeySchema", { least: 1, most: 2 }).map((element) => ({
    AttributeName: element.text("AttributeName"),
    KeyType: element.neededChoice("KeyType", ["HASH", "RANGE"]),
  }));
  const unknown = schema.find(({ AttributeName }) => !known.includes(AttributeName));
  if (unknown) throw invalidParameter(`The key ${unknown.AttributeName} is not defined in AttributeDefinitions`);
  if (schema[0]?.KeyType === "HASH" && schema[1]?.KeyType !== "HASH") return schema;
  throw invalid("Invalid KeySchema: the first KeySchemaElement is of type HASH, the second of type RANGE");
}

function readIndex(input: Request, known: string[]) {
  refuseUnserved(input);
  const [IndexName, KeySchema] = [input.text("IndexName", nameLimits), readKeySchema(input, known)];
  const { ProjectionType } = input.map("Projection") ?? {};
  if (ProjectionType === "ALL") return { IndexName, KeySchema, Projection: { ProjectionType } };
  throw invalid("An index of the local DynamoDB projects everything - use the ProjectionType ALL");
}

export function describeTable(store: Store, input: Request): Answer {
  const name = tableName(input);
  return { Table: store.tables.get(name, `: Table: ${name} not found`).description };
}

export function listTables(store: Store, input: Request): Answer {
  const limit = input.number("Limit", { least: 1, most: 100 }) ?? 100;
  const start = input.optionalText("ExclusiveStartTableName", nameLimits) ?? "";
  const names = store.tables.names().filter((name) => name > start);
  const page = names.slice(0, limit);
  return { TableNames: page, LastEvaluatedTableName: names.length > limit ? page.at(-1) : undefined };
}

const noThroughput = { NumberOfDecreasesToday: 0, ReadCapacityUnits: 0, WriteCapacityUnits: 0 };

function describedIndex(table: string, index: ReturnType<typeof readIndex>) {
  return {
    ...index,
    ProvisionedThroughput: noThroughput,
    IndexArn: arnOf("dynamodb", `table/${table}/index/${index.IndexName}`),
    IndexSizeBytes: 0,
    ItemCount: 0,
    IndexStatus: "ACTIVE",
  };
}
