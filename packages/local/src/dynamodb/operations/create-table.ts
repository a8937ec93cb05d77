import { randomUUID } from "node:crypto";
import { DynamoDbError, invalid, invalidParameter } from "../errors.ts";
import { tableName } from "../request/common.ts";
import { readAttributeDefinitions, readIndex, readKeySchema, readThroughput } from "../request/definitions.ts";
import type { Input } from "../request/input.ts";
import type { Store } from "../store/store.ts";
import type { TableDescription } from "../store/table.ts";
import type { Answer } from "./answer.ts";
import { checkGlobalIndexes, checkLocalIndexes } from "./check-indexes.ts";
import { arnOf, describedIndex, withDecreases } from "./describe.ts";

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
  const billing = readBilling(input);
  const KeySchema = readKeySchema(input, AttributeDefinitions);
  const indexes = (field: string) => {
    const list = input.structures(field)?.map((index) => readIndex(index, AttributeDefinitions));
    if (list?.length === 0) throw invalidParameter(`List of ${field} is empty`);
    return list ?? [];
  };
  const [local, global] = [indexes("LocalSecondaryIndexes"), indexes("GlobalSecondaryIndexes")];
  checkLocalIndexes(local, KeySchema);
  checkGlobalIndexes(global, local, billing.BillingModeSummary !== undefined);
  checkAllUsed(AttributeDefinitions, [KeySchema, ...[...local, ...global].map((index) => index.KeySchema)]);
  return {
    TableName: name,
    TableArn: arnOf(name),
    TableId: randomUUID(),
    TableStatus: "ACTIVE",
    CreationDateTime: Date.now() / 1000,
    AttributeDefinitions,
    KeySchema,
    ...billing,
    DeletionProtectionEnabled: input.flag("DeletionProtectionEnabled") ?? false,
    ...(local.length > 0 && { LocalSecondaryIndexes: local.map((index) => describedIndex(name, index)) }),
    ...(global.length > 0 && {
      GlobalSecondaryIndexes: global.map((index) => ({
        ...describedIndex(name, index),
        IndexStatus: "ACTIVE" as const,
      })),
    }),
    ItemCount: 0,
    TableSizeBytes: 0,
  };
}

function readBilling(input: Input): Pick<TableDescription, "BillingModeSummary" | "ProvisionedThroughput"> {
  const mode = input.choice("BillingMode", ["PROVISIONED", "PAY_PER_REQUEST"]);
  const throughput = readThroughput(input);
  if (mode === "PAY_PER_REQUEST") {
    if (throughput) {
      const what = "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is";
      throw invalidParameter(`${what} PAY_PER_REQUEST`);
    }
    const summary = { BillingMode: mode, LastUpdateToPayPerRequestDateTime: Date.now() / 1000 };
    return { BillingModeSummary: summary, ProvisionedThroughput: withDecreases(undefined) };
  }
  if (throughput) return { ProvisionedThroughput: withDecreases(throughput) };
  const what = "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED";
  throw invalidParameter(what);
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
