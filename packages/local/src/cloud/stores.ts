import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { CreateBucketCommand } from "@aws-sdk/client-s3";
import { createTable, s3Client } from "@nova/aws";
import { bucket, table } from "./environment.ts";

/** Makes the table and the bucket of a data folder that is new. */
export async function createStores(): Promise<void> {
  const dynamodb = new DynamoDBClient();
  const s3 = s3Client(true);
  try {
    await Promise.all([createTable(dynamodb, table), s3.send(new CreateBucketCommand({ Bucket: bucket }))]);
  } finally {
    dynamodb.destroy();
    s3.destroy();
  }
}
