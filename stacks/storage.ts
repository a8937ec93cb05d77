import type { Table } from "aws-cdk-lib/aws-dynamodb";
import type { Bucket } from "aws-cdk-lib/aws-s3";
import { consoleOrigin, mailSettingsFrom, splitList } from "./engine/settings.ts";
import type { StackContext } from "./sst.ts";
import { stageOf } from "./stage.ts";
import { createBucket } from "./storage/bucket.ts";
import { createKeys, createTable, type Keys } from "./storage/table.ts";

export interface Storage {
  table: Table;
  bucket: Bucket;
  keys: Keys;
}

export function storage({ stack, app }: StackContext): Storage {
  const stage = stageOf(app);
  const uses = {
    origins: [...splitList(process.env.NOVA_CORS_ORIGINS), consoleOrigin(process.env)],
    takesMail: mailSettingsFrom(process.env).domains.length > 0,
  };
  const [table, bucket, keys] = [createTable(stack, stage), createBucket(stack, stage, uses), createKeys(stack, stage)];
  stack.addOutputs({ Table: table.tableName, Bucket: bucket.bucketName, SigningKey: keys.signing.keyId });
  return { table, bucket, keys };
}
