import { DeleteItemCommand, GetItemCommand, ScanCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { erasedWords, furtherScopes } from "@nova/engine";
import type { ErasableScope, Eraser } from "@nova/service";
import { reaching, reachingIf } from "./clients/outage.ts";
import { readPages } from "./dynamodb/chain/chain-table.ts";
import {
  chainPartition,
  type Item,
  type ItemConnection,
  linksOf,
  partitionKey,
  textIn,
  textValue,
} from "./dynamodb/chain/items.ts";
import { type BucketConnection, removePrefix } from "./s3/objects.ts";

const store = "DynamoDB";

/** Items of one partition whose contents are going at the same time. */
const atOnce = 16;

/** The one adapter that changes what lies in the chain's partitions; its role alone may (stacks/storage/chain-stays.ts). */
export function createEraser(connection: ItemConnection, bucket: BucketConnection): Eraser {
  return {
    contents: (at) => eraseContents(connection, at),
    traces: (execution) => eraseTraces(connection, execution),
    blobs: ({ client, root }) => removePrefix(bucket, `blobs/${client}/${root}/`),
    async objects(client) {
      await removePrefix(bucket, `blobs/${client}/`);
      await removePrefix(bucket, `uploads/${client}/`);
    },
    rest: (client, cursor) => eraseRest(connection, client, cursor),
  };
}

/** Takes the contents out of every entry and step of a partition. What is hashed stays, and with it the chain. */
async function eraseContents(connection: ItemConnection, at: ErasableScope): Promise<ErasableScope[]> {
  const further: ErasableScope[] = [];
  const partition = partitionKey(chainPartition(at.execution, at.scope));
  for await (const { items } of readPages(connection, { partition })) {
    const kept = items.filter(holdsContents);
    while (kept.length > 0) await Promise.all(kept.splice(0, atOnce).map((item) => takeContents(connection, item)));
    const entries = items.filter((item) => textIn(item, "head") !== undefined);
    further.push(...linksOf(entries).flatMap(({ entry }) => (entry ? furtherScopes(entry) : [])));
  }
  return further;
}

/** Steps of format 1 without contents have what people said in their text. */
function holdsContents(item: Item): boolean {
  return item.contents !== undefined || (item.step !== undefined && hasOwnWords(item));
}

function hasOwnWords(item: Item): boolean {
  const text = textIn(item, "text") ?? "";
  return text !== "" && !("digests" in JSON.parse(text));
}

async function takeContents({ client, table }: ItemConnection, item: Item): Promise<void> {
  const { pk, sk } = item;
  if (!pk || !sk) return;
  const names = item.step !== undefined && hasOwnWords(item) ? ["contents", "text"] : ["contents"];
  const update = new UpdateItemCommand({
    TableName: table,
    Key: { pk, sk },
    UpdateExpression: `REMOVE ${names.map((name) => `#${name}`).join(", ")}`,
    ConditionExpression: "attribute_exists(#pk)",
    ExpressionAttributeNames: { "#pk": "pk", ...Object.fromEntries(names.map((name) => [`#${name}`, name])) },
  });
  await reaching(store, () => client.send(update));
}

/** Tasks, with what people were asked, and their tokens go; of the record the words of its error. */
async function eraseTraces(connection: ItemConnection, execution: string): Promise<void> {
  for await (const { items } of readPages(connection, { partition: `T#${execution}` }))
    for (const item of items) await deleteItem(connection, item);
  await maskError(connection, execution);
  await eraseLabels(connection, execution);
}

async function eraseLabels(connection: ItemConnection, execution: string): Promise<void> {
  const { client, table } = connection;
  const Key = { pk: textValue(`E#${execution}`), sk: textValue("E") };
  const get = new GetItemCommand({ TableName: table, Key, ConsistentRead: true });
  const { Item: record = {} } = await reaching(store, () => client.send(get));
  for (const [name, { S: value }] of Object.entries(record.labels?.M ?? {})) {
    const sk = textValue(`${textIn(record, "startedAt")}#${execution}`);
    await deleteItem(connection, { pk: textValue(`LABEL#${name}#${value}`), sk });
  }
  if (!record.labels) return;
  const update = new UpdateItemCommand({
    ...{ TableName: table, Key, UpdateExpression: "REMOVE #labels", ConditionExpression: "attribute_exists(#labels)" },
    ExpressionAttributeNames: { "#labels": "labels" },
  });
  await reachingIf(store, () => client.send(update));
}

async function maskError({ client, table }: ItemConnection, execution: string): Promise<void> {
  const update = new UpdateItemCommand({
    TableName: table,
    Key: { pk: textValue(`E#${execution}`), sk: textValue("E") },
    UpdateExpression: "SET #error.#message = :words",
    ConditionExpression: "attribute_exists(#error.#message)",
    ExpressionAttributeNames: { "#error": "error", "#message": "message" },
    ExpressionAttributeValues: { ":words": textValue(erasedWords) },
  });
  await reachingIf(store, () => client.send(update));
}

/** What stays of a client: that it ran, and what people did. Its own record goes last. */
const staying = new Set(["execution", "audit", "client"]);

/** Queues of a client, and of a workflow for one client. */
const pools = "Q#";

/**
 * A page of the table, without what names the client. Few are erased, so a scan costs less than an index by client of
 * everything that is ever stored, and finds what nobody thought of.
 */
async function eraseRest(
  connection: ItemConnection,
  slug: string,
  cursor: string | undefined,
): Promise<string | undefined> {
  const scan = new ScanCommand({
    TableName: connection.table,
    ConsistentRead: true,
    FilterExpression: "#client = :slug OR #owner = :owner OR begins_with(#pk, :pools)",
    ExpressionAttributeNames: { "#client": "client", "#owner": "owner", "#pk": "pk" },
    ExpressionAttributeValues: {
      ...{ ":slug": textValue(slug), ":owner": textValue(`client:${slug}`), ":pools": textValue(pools) },
    },
    ...(cursor !== undefined && { ExclusiveStartKey: JSON.parse(cursor) as Item }),
  });
  const { Items = [], LastEvaluatedKey } = await reaching(store, () => connection.client.send(scan));
  for (const item of Items) {
    if (isToGo(item, slug)) await deleteItem(connection, item);
  }
  return LastEvaluatedKey && JSON.stringify(LastEvaluatedKey);
}

/** Of a pool only what names runs: that it is there is remembered by who writes to it. */
function isToGo(item: Item, slug: string): boolean {
  const [entity, partition = ""] = [textIn(item, "__edb_e__") ?? "", textIn(item, "pk")];
  if (!partition.startsWith(pools)) return !staying.has(entity);
  if (textIn(item, "client") === slug) return true;
  return entity !== "pool" && !partition.startsWith("Q#W#") && partition.endsWith(`#${slug}`);
}

/** Deletes an item that was read. */
export async function deleteItem({ client, table }: ItemConnection, { pk, sk }: Item): Promise<void> {
  if (!pk || !sk) return;
  await reaching(store, () => client.send(new DeleteItemCommand({ TableName: table, Key: { pk, sk } })));
}
