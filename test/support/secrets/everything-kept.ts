import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { GetObjectCommand, ListObjectsV2Command, S3Client } from "@aws-sdk/client-s3";

/**
 * Returns all texts that a local cloud stores, by location: each item of DynamoDB, each object of S3, and each other
 * file.
 */
export async function everythingKept(dataDir: string): Promise<Map<string, string>> {
  return new Map([...(await itemsKept()), ...(await objectsKept()), ...(await filesKept(dataDir))]);
}

async function itemsKept(): Promise<[string, string][]> {
  const { Items = [] } = await new DynamoDBClient().send(new ScanCommand({ TableName: "nova", ConsistentRead: true }));
  return Items.map((item) => [`item ${item.pk?.S} ${item.sk?.S}`, plain(item)]);
}

async function objectsKept(): Promise<[string, string][]> {
  const client = new S3Client({ forcePathStyle: true });
  const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: "nova" }));
  return Promise.all(
    Contents.map(async ({ Key = "" }): Promise<[string, string]> => {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: "nova", Key }));
      return [`object ${Key}`, Buffer.from((await Body?.transformToByteArray()) ?? []).toString("latin1")];
    }),
  );
}

async function filesKept(folder: string): Promise<[string, string][]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const texts = files.map(async (path): Promise<[string, string]> => [path, (await readFile(path)).toString("latin1")]);
  return Promise.all(texts);
}

/** Returns an item as JSON. Binary attributes become readable text, so that tests can search in it. */
function plain(item: object): string {
  return JSON.stringify(item, (_key, value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value,
  );
}
