import { CreateBucketCommand } from "@aws-sdk/client-s3";
import { createTable, s3Client } from "@nova/aws";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { dynamoDbClient } from "../../../packages/aws/src/clients/clients.ts";
import type { TableConnection } from "../../../packages/aws/src/dynamodb/records.ts";
import type { BucketConnection } from "../../../packages/aws/src/s3/objects.ts";
import { type DynamoDbOptions, openDynamoDb } from "../../../packages/aws-local/src/dynamodb/server.ts";
import { openS3, type S3Options } from "../../../packages/aws-local/src/s3/server.ts";

const key = { accessKeyId: "test-key", secretAccessKey: "test-secret" };

/**
 * Sets the environment variables of AWS. Each test file has to call this function, because test files in one process
 * share this module, but not the environment variables.
 */
function enterAccount(): void {
  process.env.AWS_REGION = "us-east-1";
  process.env.AWS_ACCESS_KEY_ID = key.accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = key.secretAccessKey;
}

/** A DynamoDB table for one test file. `operations` lists the requests of the running test. */
export interface TestTable extends TableConnection {
  operations: string[];
  requests: Record<string, unknown>[];
  faults: DynamoDbOptions["faults"];
}

export function useTable(): TestTable {
  const table = { operations: [], requests: [], faults: undefined } as unknown as TestTable;
  let close: () => Promise<void>;
  beforeAll(async () => {
    enterAccount();
    const server = await openDynamoDb({
      dataDir: null,
      ...key,
      faults(request) {
        table.operations.push(request.operation);
        table.requests.push(JSON.parse(request.text));
        return table.faults?.(request);
      },
    });
    process.env.AWS_ENDPOINT_URL_DYNAMODB = server.url;
    Object.assign(table, { client: dynamoDbClient(), table: "nova-test" });
    await createTable(table.client, table.table);
    close = server.close;
  });
  beforeEach(() => {
    table.operations.length = 0;
    table.requests.length = 0;
    table.faults = undefined;
  });
  afterAll(async () => {
    table.client.destroy();
    await close();
  });
  return table;
}

export interface TestBucket extends BucketConnection {
  operations: string[];
  faults: S3Options["faults"];
}

export function useBucket(): TestBucket {
  const bucket = { operations: [], bucket: "nova-test", faults: undefined } as unknown as TestBucket;
  let close: () => Promise<void>;
  beforeAll(async () => {
    enterAccount();
    const server = await openS3({
      dataDir: null,
      ...key,
      faults(request) {
        bucket.operations.push(request.operation);
        return bucket.faults?.(request);
      },
    });
    process.env.AWS_ENDPOINT_URL_S3 = server.url;
    bucket.client = s3Client(true);
    await bucket.client.send(new CreateBucketCommand({ Bucket: bucket.bucket }));
    close = server.close;
  });
  beforeEach(() => {
    bucket.operations.length = 0;
    bucket.faults = undefined;
  });
  afterAll(async () => {
    bucket.client.destroy();
    await close();
  });
  return bucket;
}

/** Returns a function that returns the given fault for the first `times` requests, and no fault for later requests. */
export function failing<T extends "throttle" | "error" | "lost">(times: number, fault: T): () => T | undefined {
  let left = times;
  return () => (left-- > 0 ? fault : undefined);
}
