import { DynamoDbError, invalid, invalidParameter } from "../errors.ts";
import { indexNameLimits, tableName } from "../request/common.ts";
import { readAttributeDefinitions, readIndex, readThroughput } from "../request/definitions.ts";
import type { Input } from "../request/input.ts";
import type { Store } from "../store/store.ts";
import type { IndexDescription, Table, TableDescription } from "../store/table.ts";
import type { Answer } from "./answer.ts";
import { checkGlobalIndexes } from "./check-indexes.ts";
import { describedIndex, withDecreases } from "./describe.ts";
import { fillIndex } from "./fill-index.ts";

const changeable = [
  "ProvisionedThroughput",
  "BillingMode",
  "GlobalSecondaryIndexUpdates",
  "DeletionProtectionEnabled",
] as const;

/** Everything is done at once; an index is filled before the answer goes out. */
export function updateTable(store: Store, input: Input): Answer {
  const table = store.tables.named(tableName(input));
  if (!changeable.some((field) => input.has(field))) {
    throw invalid(`At least one of ${changeable.join(", ")} is required`);
  }
  const billed = rebilled(input, table.description);
  const description = reindexed(input, { ...billed, ...protection(input) });
  store.atomically(() => {
    const changed = store.tables.describe(table, description);
    const kept = new Set(changed.indexes.map(({ id }) => id));
    for (const { id } of table.indexes) if (!kept.has(id)) store.entries.clear(id);
    for (const index of changed.indexes) if (isNew(table, index.id)) fillIndex(store, changed, index);
    store.tables.save(changed);
  });
  return { TableDescription: { ...description, TableStatus: "UPDATING" } };
}

function isNew({ indexes }: Table, id: number): boolean {
  return !indexes.some((index) => index.id === id);
}

function protection(input: Input): Pick<TableDescription, "DeletionProtectionEnabled"> | undefined {
  const isProtected = input.flag("DeletionProtectionEnabled");
  return isProtected === undefined ? undefined : { DeletionProtectionEnabled: isProtected };
}

function rebilled(input: Input, description: TableDescription): TableDescription {
  const mode = input.choice("BillingMode", ["PROVISIONED", "PAY_PER_REQUEST"]);
  const throughput = readThroughput(input);
  const effective = mode ?? description.BillingModeSummary?.BillingMode ?? "PROVISIONED";
  if (throughput && effective === "PAY_PER_REQUEST") {
    const what = "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is";
    throw invalidParameter(`${what} PAY_PER_REQUEST`);
  }
  if (mode === "PROVISIONED" && !throughput) {
    throw invalidParameter("ProvisionedThroughput must be specified when BillingMode is PROVISIONED");
  }
  if (mode === "PAY_PER_REQUEST") {
    const summary = { BillingMode: mode, LastUpdateToPayPerRequestDateTime: Date.now() / 1000 };
    return { ...description, BillingModeSummary: summary, ProvisionedThroughput: withDecreases(undefined) };
  }
  if (!throughput) return description;
  const summary = mode && { BillingModeSummary: { BillingMode: mode } };
  return { ...description, ...summary, ProvisionedThroughput: withDecreases(throughput) };
}

function reindexed(input: Input, description: TableDescription): TableDescription {
  const updates = input.structures("GlobalSecondaryIndexUpdates") ?? [];
  const structural = updates.filter((update) => update.has("Create") || update.has("Delete"));
  if (structural.length > 1) {
    const what = "Only 1 online index can be created or deleted simultaneously per table";
    throw new DynamoDbError("LimitExceededException", `Subscriber limit exceeded: ${what}`);
  }
  const given = input.has("AttributeDefinitions") ? readAttributeDefinitions(input) : [];
  const old = description.AttributeDefinitions.filter(
    ({ AttributeName }) => !given.some((definition) => definition.AttributeName === AttributeName),
  );
  const whole = { ...description, AttributeDefinitions: [...old, ...given] };
  const indexes = updates.reduce(
    (list, update) => applied(update, list, whole),
    description.GlobalSecondaryIndexes ?? [],
  );
  const { GlobalSecondaryIndexes: _, ...rest } = whole;
  return { ...rest, ...(indexes.length > 0 && { GlobalSecondaryIndexes: indexes }) };
}

function applied(update: Input, indexes: IndexDescription[], description: TableDescription): IndexDescription[] {
  const create = update.structure("Create");
  if (create) {
    const index = readIndex(create, description.AttributeDefinitions);
    const isPaidPerRequest = description.BillingModeSummary?.BillingMode === "PAY_PER_REQUEST";
    const known = [...indexes, ...(description.LocalSecondaryIndexes ?? [])];
    checkGlobalIndexes([index], known, isPaidPerRequest);
    return [...indexes, { ...describedIndex(description.TableName, index), IndexStatus: "ACTIVE" }];
  }
  const remove = update.structure("Delete");
  const change = remove ?? update.structure("Update");
  if (!change) {
    const kinds = ["Update", "Create", "Delete"].map((kind) => `GlobalSecondaryIndexUpdate.${kind}`);
    throw invalidParameter(`One of ${kinds.join(", ")} must not be null`);
  }
  const name = change.text("IndexName", indexNameLimits);
  if (!indexes.some(({ IndexName }) => IndexName === name)) {
    throw new DynamoDbError("ResourceNotFoundException", "Requested resource not found");
  }
  if (remove) return indexes.filter(({ IndexName }) => IndexName !== name);
  const throughput = withDecreases(readThroughput(change));
  return indexes.map((index) => (index.IndexName === name ? { ...index, ProvisionedThroughput: throughput } : index));
}
