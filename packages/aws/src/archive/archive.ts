import { GetItemCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { GetObjectCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import { StoreUnavailable } from "@nova/engine";
import { type Archive, type ArchivePage, type ArchiveQuery, type ArchiveRecord, isDraftId } from "@nova/service";
import { reportOutage } from "../clients/outage.ts";
import { ifAbsent, putItem, readRange } from "../dynamodb/chain/chain-table.ts";
import { type Item, type ItemConnection, textIn, textValue } from "../dynamodb/chain/items.ts";
import { definitionPrefix } from "../dynamodb/definitions.ts";
import { noteImported } from "../dynamodb/executions.ts";
import type { TableConnection } from "../dynamodb/records.ts";
import { kindOf } from "../formats.ts";
import { type BucketConnection, readObject, writeOnce } from "../s3/objects.ts";
import { spool } from "../s3/spool.ts";
import { claimOf } from "./claim.ts";
import { redactItem, redactObjects } from "./seen-definitions.ts";

/** Kinds of items that live for a day at most and are not archived. */
const shortLived = new Set(["attempt", "rate"]);

/** The end of a page: in the table, or in one of the bucket's prefixes. */
type Position = { after?: Item } | ObjectPosition;
/** `after` is an object's key; the object may be gone. */
type ObjectPosition = { prefix: number; after?: string };

/** Exports and imports the table and the bucket, page by page: first all items, then all objects. */
export function createArchive(table: TableConnection, bucket: BucketConnection): Archive {
  return {
    async page(query) {
      const position = query.cursor === undefined ? {} : (JSON.parse(query.cursor) as Position);
      if ("prefix" in position) return objectPage({ table, bucket }, query, position);
      return itemPage({ table, bucket }, query, position);
    },
    async sign(key, seconds) {
      const { getSignedUrl } = await import("@aws-sdk/s3-request-presigner");
      const get = new GetObjectCommand({ Bucket: bucket.bucket, Key: key });
      return getSignedUrl(bucket.client, get, { expiresIn: seconds });
    },
    async read(key) {
      const found = await readObject(bucket, key);
      if (found) return found.chunks;
      throw new StoreUnavailable(`the object ${key} was deleted meanwhile - export again`);
    },
    claim: (text) => claimOf(JSON.parse(text) as Item),
    clientOf: (execution) => clientOfExecution(table, execution),
    async hasWorkflow(id) {
      const versions = { partition: `W#${id}`, keys: { prefix: "V#" }, limit: 1 };
      return (await readRange(table, versions)).items.length > 0;
    },
    async putItem(text) {
      const item = JSON.parse(text) as Item;
      const isNew = await putItem(table, withoutOffer(item), ifAbsent);
      const [id = "", client = "", restartedFrom] = ["id", "client", "restartedFrom"].map((name) => textIn(item, name));
      // The source may have been imported earlier, without this restart.
      if (restartedFrom !== undefined && kindOf(item) === "execution")
        await noteImported(table, { id, client, restartedFrom });
      return isNew;
    },
    async putObject(key, body, { bytes, sha256 }) {
      await using source = await spool(body, { bytes, sha256 });
      await writeOnce(bucket, { key, bytes, sha256, contentType: "application/octet-stream", body: source.body });
    },
  };
}

/** Removes offered sandboxes: they belong to one E2B account and die within a minute. */
function withoutOffer({ idle, leaver: _, taker: __, open, ...record }: Item): Item {
  return idle === undefined && open ? { ...record, open } : record;
}

async function itemPage(
  { table, bucket }: { table: ItemConnection; bucket: BucketConnection },
  { client, seen }: ArchiveQuery,
  { after }: { after?: Item },
): Promise<ArchivePage> {
  const scan = new ScanCommand({
    TableName: table.table,
    ConsistentRead: true,
    ...(after && { ExclusiveStartKey: after }),
  });
  const { Items = [], LastEvaluatedKey: end } = await reportOutage("DynamoDB", () => table.client.send(scan));
  const isWanted = client === undefined ? async () => true : itemsOfClient(table, client);
  const wanted: Item[] = [];
  for (const item of Items) if (!shortLived.has(kindOf(item)) && (await isWanted(item))) wanted.push(item);
  const shown = seen ? await Promise.all(wanted.map((item) => redactItem(bucket, item, seen))) : wanted;
  const records = shown.map(
    (item): ArchiveRecord => ({ kind: "item", entity: kindOf(item), item: JSON.stringify(withoutOffer(item)) }),
  );
  const next: Position = end ? { after: end } : { prefix: 0 };
  return { records, cursor: JSON.stringify(next) };
}

async function objectPage(
  { table, bucket }: { table: ItemConnection; bucket: BucketConnection },
  { client: slug, seen }: ArchiveQuery,
  { prefix, after }: ObjectPosition,
): Promise<ArchivePage> {
  const prefixes = [definitionPrefix, slug === undefined ? "blobs/" : `blobs/${slug}/`];
  const list = new ListObjectsV2Command({ Bucket: bucket.bucket, Prefix: prefixes[prefix], StartAfter: after });
  const { Contents = [], IsTruncated } = await reportOutage("S3", () => bucket.client.send(list));
  const all = Contents.map(({ Key = "", Size = 0 }) => ({ kind: "object" as const, key: Key, bytes: Size }));
  const found = slug === undefined ? all : await definitionsOfClient(table, all, slug);
  const onPage = seen && prefix === 0 ? await redactObjects(bucket, found, seen) : found;
  const isComplete = onPage.length === found.length;
  const lastKey = isComplete ? all.at(-1)?.key : found[onPage.length - 1]?.key;
  const isLastOfPrefix = !IsTruncated && isComplete;
  const next = isLastOfPrefix ? prefix + 1 < prefixes.length && { prefix: prefix + 1 } : { prefix, after: lastKey };
  return { records: onPage, ...(next && { cursor: JSON.stringify(next) }) };
}

/** Leaves out definitions that belong to drafts of other clients. */
async function definitionsOfClient<T extends { key: string }>(
  table: ItemConnection,
  objects: readonly T[],
  slug: string,
): Promise<T[]> {
  const owners = new Map<string, string | undefined>();
  const seen: T[] = [];
  for (const object of objects) {
    const [, id = ""] = /^workflows\/(draft-[^/]+)\//.exec(object.key) ?? [];
    if (id !== "" && !owners.has(id)) {
      const { items } = await readRange(table, { partition: `W#${id}`, keys: { prefix: "V#" }, limit: 1 });
      owners.set(id, items[0] && textIn(items[0], "draftOf"));
    }
    if (id === "" || (owners.get(id) ?? slug) === slug) seen.push(object);
  }
  return seen;
}

/** Kinds that belong to all clients. An export needs them to show which workflows a client's runs executed. */
const sharedKinds = new Set(["version", "workflow-state", "publication"]);

/**
 * Returns a test for items of one client. Steps, tasks and tokens belong to their execution, whose record is read once.
 */
function itemsOfClient({ client, table }: ItemConnection, slug: string): (item: Item) => Promise<boolean> {
  const owners = new Map<string, Promise<string | undefined>>();
  return async (item) => {
    const [entity, head] = [textIn(item, "__edb_e__") ?? "", textIn(item, "head")];
    if (head !== undefined) return (JSON.parse(head) as { client?: string }).client === slug;
    // Definitions belong to all clients, except those of drafts.
    const isDraft = isDraftId(textIn(item, "workflowId") ?? "");
    if (sharedKinds.has(entity)) return isDraft ? textIn(item, "draftOf") === slug : true;
    if (textIn(item, "client") === slug) return true;
    if (textIn(item, "owner") === `client:${slug}`) return true;
    if (entity === "client") return textIn(item, "slug") === slug;
    const execution = textIn(item, "execution") ?? textIn(item, "partition")?.split("/")[0];
    if (execution === undefined) return false;
    const owner = owners.get(execution) ?? clientOfExecution({ client, table }, execution);
    owners.set(execution, owner);
    return (await owner) === slug;
  };
}

/** Undefined if the execution is not stored. */
async function clientOfExecution({ client, table }: ItemConnection, id: string): Promise<string | undefined> {
  const get = new GetItemCommand({ TableName: table, Key: { pk: textValue(`E#${id}`), sk: textValue("E") } });
  const { Item: record } = await reportOutage("DynamoDB", () => client.send(get));
  return record && textIn(record, "client");
}
