import { DeleteItemCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { erasedWords, furtherScopes } from "@nova/engine";
import type { ErasableScope, Eraser } from "@nova/service";
import { reportOutage } from "./clients/outage.ts";
import * as db from "./dynamodb/chain/items.ts";
import { type TableConnection, updateItem } from "./dynamodb/records.ts";
import { type BucketConnection, removePrefix } from "./s3/objects.ts";
import { proofFilePrefix } from "./s3/proof-files.ts";

const store = "DynamoDB";

const maxParallelUpdates = 16;

/**
 * Creates the only adapter that changes items of the chain. Only the eraser's IAM role allows such changes
 * (stacks/storage.ts).
 */
export function createEraser(connection: TableConnection, bucket: BucketConnection): Eraser {
  return {
    contents: (at) => eraseContents(connection, at),
    traces: (execution) => eraseTraces(connection, execution),
    async blobs({ client, root }) {
      await removePrefix(bucket, `blobs/${client}/${root}/`);
      await removePrefix(bucket, proofFilePrefix({ client, root }));
    },
    async objects(client) {
      await removePrefix(bucket, `blobs/${client}/`);
      await removePrefix(bucket, `uploads/${client}/`);
      await removePrefix(bucket, proofFilePrefix({ client }));
    },
    rest: (client, cursor) => eraseRest(connection, client, cursor),
  };
}

/** Removes the contents of every entry and step of a partition. The hashed parts stay, so the chain still verifies. */
async function eraseContents(connection: TableConnection, at: ErasableScope): Promise<ErasableScope[]> {
  const further: ErasableScope[] = [];
  const partition = db.partitionKey(db.chainPartition(at.execution, at.scope));
  for await (const { items } of db.readRangePages(connection, { partition })) {
    const kept = items.filter(holdsContents);
    while (kept.length > 0)
      await Promise.all(kept.splice(0, maxParallelUpdates).map((item) => takeContents(connection, item)));
    const entries = items.filter((item) => db.textIn(item, "head") !== undefined);
    further.push(...db.linksOf(entries).flatMap(({ entry }) => (entry ? furtherScopes(entry) : [])));
  }
  return further;
}

/** Returns whether an item still has contents: in the field `contents`, or in the text of a step without digests. */
function holdsContents(item: db.Item): boolean {
  return item.contents !== undefined || (item.step !== undefined && hasOwnWords(item));
}

function hasOwnWords(item: db.Item): boolean {
  const text = db.textIn(item, "text") ?? "";
  return text !== "" && !("digests" in JSON.parse(text));
}

async function takeContents(connection: TableConnection, item: db.Item): Promise<void> {
  const [pk = "", sk = ""] = [db.textIn(item, "pk"), db.textIn(item, "sk")];
  const update = item.step !== undefined && hasOwnWords(item) ? "REMOVE #contents, #text" : "REMOVE #contents";
  await updateItem(connection, { pk, sk }, { update, condition: "attribute_exists(#pk)" });
}

/** Deletes an execution's tasks and tokens, its labels, and the error message in its record. */
async function eraseTraces(connection: TableConnection, execution: string): Promise<void> {
  for await (const { items } of db.readRangePages(connection, { partition: `T#${execution}` }))
    for (const item of items) await deleteItem(connection, item);
  await maskError(connection, execution);
  await eraseLabels(connection, execution);
}

async function eraseLabels(connection: TableConnection, execution: string): Promise<void> {
  const { pk, sk: key } = recordKey(execution);
  const record = (await db.readOne(connection, { partition: pk, key })) ?? {};
  for (const [name, { S: value }] of Object.entries(record.labels?.M ?? {})) {
    const sk = db.textValue(`${db.textIn(record, "startedAt")}#${execution}`);
    await deleteItem(connection, { pk: db.textValue(`LABEL#${name}#${value}`), sk });
  }
  if (!record.labels) return;
  const change = { update: "REMOVE #labels", condition: "attribute_exists(#labels)" };
  await updateItem(connection, { pk, sk: key }, change);
}

async function maskError(connection: TableConnection, execution: string): Promise<void> {
  await updateItem(connection, recordKey(execution), {
    update: "SET #error.#message = :words",
    condition: "attribute_exists(#error.#message)",
    values: { words: erasedWords },
  });
}

function recordKey(execution: string) {
  return { pk: `E#${execution}`, sk: "E" };
}

/** Kinds of records that a client's erasure keeps. The caller deletes the client's own record last. */
const keptKinds = new Set(["execution", "audit", "client"]);

/** The start of the partition keys of all pools: pools of a client, and pools of a workflow for one client. */
const poolPrefix = "Q#";

/**
 * Deletes the items of one page of the table that name the client. Erasures are rare, so a scan costs less than an
 * index by client over every item, and it also finds items of kinds that are added later.
 */
async function eraseRest(connection: TableConnection, slug: string, cursor: string | undefined) {
  const scan = new ScanCommand({
    TableName: connection.table,
    ConsistentRead: true,
    FilterExpression: "#client = :slug OR #owner = :owner OR begins_with(#pk, :pools)",
    ExpressionAttributeNames: { "#client": "client", "#owner": "owner", "#pk": "pk" },
    ExpressionAttributeValues: {
      ":slug": db.textValue(slug),
      ":owner": db.textValue(`client:${slug}`),
      ":pools": db.textValue(poolPrefix),
    },
    ...(cursor !== undefined && { ExclusiveStartKey: JSON.parse(cursor) as db.Item }),
  });
  const { Items = [], LastEvaluatedKey } = await reportOutage(store, () => connection.client.send(scan));
  for (const item of Items) {
    if (mustDelete(item, slug)) await deleteItem(connection, item);
  }
  return LastEvaluatedKey && JSON.stringify(LastEvaluatedKey);
}

/**
 * Returns whether an item must be deleted because it names the client. The record of a pool stays, because processes
 * remember that they have written it.
 */
function mustDelete(item: db.Item, slug: string): boolean {
  const [entity, partition = ""] = [db.textIn(item, "__edb_e__") ?? "", db.textIn(item, "pk")];
  if (!partition.startsWith(poolPrefix)) return !keptKinds.has(entity);
  if (db.textIn(item, "client") === slug) return true;
  return entity !== "pool" && !partition.startsWith("Q#W#") && partition.endsWith(`#${slug}`);
}

async function deleteItem({ client, table }: db.ItemConnection, { pk, sk }: db.Item): Promise<void> {
  if (!pk || !sk) return;
  await reportOutage(store, () => client.send(new DeleteItemCommand({ TableName: table, Key: { pk, sk } })));
}
