import { PutItemCommand, ScanCommand } from "@aws-sdk/client-dynamodb";
import { GetObjectCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import { StoreUnavailable } from "@nova/engine";
import type { Archive, ArchivePage, ArchiveRecord } from "@nova/service";
import { reaching, reachingIf } from "../clients/outage.ts";
import type { Item } from "../dynamodb/chain/attributes.ts";
import { ifAbsent } from "../dynamodb/chain/chain-table.ts";
import { kindOf } from "../formats/kind-of.ts";
import type { BucketConnection } from "../s3/connection.ts";
import { readObject } from "../s3/read-object.ts";
import { spool } from "../s3/spool.ts";
import { writeOnce } from "../s3/write-once.ts";
import { itemOf, itemText } from "./item-text.ts";
import { type ArchiveTable, itemsOfClient } from "./of-client.ts";

/** What a request leaves for the next ones, for a day. */
const passing = new Set(["attempt", "rate"]);

/** Where a page ended: in the table, or in one of the prefixes of the bucket. */
type Position = { after?: Item } | { prefix: number; token?: string };

/** Table and bucket as a whole, page by page: first what is in the table, then the objects. */
export function createArchive(table: ArchiveTable, bucket: BucketConnection): Archive {
  return {
    async page({ client, cursor }) {
      const position = cursor === undefined ? {} : (JSON.parse(cursor) as Position);
      return "prefix" in position ? objectPage(bucket, client, position) : itemPage(table, client, position);
    },
    async sign(key, seconds) {
      const { getSignedUrl } = await import("@aws-sdk/s3-request-presigner");
      return getSignedUrl(bucket.client, new GetObjectCommand({ Bucket: bucket.bucket, Key: key }), {
        expiresIn: seconds,
      });
    },
    async read(key) {
      const found = await readObject(bucket, key);
      if (found) return found.chunks;
      throw new StoreUnavailable(`the object ${key} was deleted meanwhile - export again`);
    },
    putItem(text) {
      const put = new PutItemCommand({ TableName: table.table, Item: itemOf(text), ...ifAbsent });
      return reachingIf("DynamoDB", () => table.client.send(put));
    },
    async putObject(key, body, { bytes, sha256 }) {
      await using source = await spool(body, { bytes, sha256 });
      await writeOnce(bucket, { key, bytes, sha256, contentType: "application/octet-stream", body: source.body });
    },
  };
}

async function itemPage(
  table: ArchiveTable,
  client: string | undefined,
  { after }: { after?: Item },
): Promise<ArchivePage> {
  const scan = new ScanCommand({
    TableName: table.table,
    ConsistentRead: true,
    ...(after && { ExclusiveStartKey: after }),
  });
  const { Items = [], LastEvaluatedKey: end } = await reaching("DynamoDB", () => table.client.send(scan));
  const isWanted = client === undefined ? async () => true : itemsOfClient(table, client);
  const records: ArchiveRecord[] = [];
  for (const item of Items) {
    const entity = kindOf(item);
    if (!passing.has(entity) && (await isWanted(item))) records.push({ kind: "item", entity, item: itemText(item) });
  }
  const next: Position = end ? { after: end } : { prefix: 0 };
  return { records, cursor: JSON.stringify(next) };
}

async function objectPage(
  { client, bucket }: BucketConnection,
  slug: string | undefined,
  { prefix, token }: { prefix: number; token?: string },
): Promise<ArchivePage> {
  const prefixes = ["workflows/", slug === undefined ? "blobs/" : `blobs/${slug}/`];
  const list = new ListObjectsV2Command({ Bucket: bucket, Prefix: prefixes[prefix], ContinuationToken: token });
  const { Contents = [], NextContinuationToken: more } = await reaching("S3", () => client.send(list));
  const records = Contents.map(({ Key = "", Size = 0 }): ArchiveRecord => ({ kind: "object", key: Key, bytes: Size }));
  const next: Position | undefined =
    more !== undefined ? { prefix, token: more } : prefix + 1 < prefixes.length ? { prefix: prefix + 1 } : undefined;
  return { records, ...(next && { cursor: JSON.stringify(next) }) };
}
