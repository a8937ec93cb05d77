import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { BucketAlreadyOwnedByYou, CreateBucketCommand, GetObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import { createTable, s3Client } from "@nova/aws";
import type { ReadObject } from "@nova/aws-local";
import { bucket, table } from "./environment.ts";

/** Creates the table and the bucket if the data folder is new. */
export async function createStores(): Promise<void> {
  const dynamodb = new DynamoDBClient();
  const s3 = s3Client(true);
  try {
    await Promise.all([createTable(dynamodb, table), createBucket(s3)]);
  } finally {
    dynamodb.destroy();
    s3.destroy();
  }
}

async function createBucket(s3: S3Client): Promise<void> {
  try {
    await s3.send(new CreateBucketCommand({ Bucket: bucket }));
  } catch (error) {
    if (!(error instanceof BucketAlreadyOwnedByYou)) throw error;
  }
}

/** Reads an object from S3 for Step Functions. The address of S3 is read from the environment at each call. */
export const readObject: ReadObject = async ({ bucket, key }) => {
  const s3 = s3Client(true);
  try {
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
    if (!Body) throw new Error(`S3 answered nothing for ${key}`);
    return await Body.transformToString();
  } finally {
    s3.destroy();
  }
};
