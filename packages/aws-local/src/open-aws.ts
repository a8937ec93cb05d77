import { mkdirSync } from "node:fs";
import { GetObjectCommand, S3Client } from "@aws-sdk/client-s3";
import type { AccessKey } from "./access/signature.ts";
import { region } from "./aws-http/request.ts";
import { DiskSpace } from "./disk/disk-space.ts";
import { openDynamoDb } from "./dynamodb/server.ts";
import { createLambdaRuntime, type LambdaFunctions } from "./lambda/lambda-runtime.ts";
import { openS3 } from "./s3/server.ts";
import { openSes } from "./ses/open-ses.ts";
import type { StatusChange } from "./states/ends.ts";
import { openStates } from "./states/open-states.ts";

export interface AwsOptions extends AccessKey {
  /** The folder of all data. Only one process at a time may use it. */
  dataDir: string;
  /** The port of DynamoDB; S3, Step Functions and SES get the next three. 0: any free ports. */
  port?: number;
  /** The Lambda functions that state machines invoke, by name. */
  functions?: LambdaFunctions;
  /** Called when an execution has ended, with the detail of EventBridge's event. */
  onStatusChange?(change: StatusChange): void | Promise<void>;
  /** Receives sentences for the operator, for example that the disk is full. */
  warn?: (sentence: string) => void;
}

/** DynamoDB, S3, Step Functions and SES with all data in one folder. */
export interface LocalAws {
  /** The environment variables that point an unchanged SDK or the AWS CLI at these services. */
  environment: Record<string, string>;
  close(): Promise<void>;
}

/** Opens DynamoDB, S3, Step Functions and SES. Rejects if a port is taken. */
export async function openAws(options: AwsOptions): Promise<LocalAws> {
  const { dataDir, port = 0, accessKeyId, secretAccessKey, functions = {}, onStatusChange = () => {}, warn } = options;
  mkdirSync(dataDir, { recursive: true });
  const disk = new DiskSpace(dataDir, warn ? { warn } : {});
  const common = { dataDir, disk, accessKeyId, secretAccessKey };
  const portOf = (index: number) => (port === 0 ? 0 : port + index);
  const dynamodb = await openDynamoDb({ ...common, port: portOf(0) });
  const s3 = await openS3({ ...common, port: portOf(1) });
  const client = new S3Client({
    endpoint: s3.url,
    region,
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle: true,
  });
  const states = await openStates({
    ...common,
    port: portOf(2),
    invokeLambda: createLambdaRuntime(functions),
    onStatusChange,
    async readObject({ bucket, key }) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
      return Body?.transformToString() ?? "";
    },
  });
  const ses = await openSes({ ...common, port: portOf(3) });
  return {
    environment: {
      AWS_ENDPOINT_URL_DYNAMODB: dynamodb.url,
      AWS_ENDPOINT_URL_S3: s3.url,
      AWS_ENDPOINT_URL_SFN: states.url,
      AWS_ENDPOINT_URL_SESV2: ses.url,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_REGION: region,
      // boto3 and the AWS CLI read only this variable.
      AWS_DEFAULT_REGION: region,
    },
    async close() {
      disk.close();
      await states.close();
      client.destroy();
      await Promise.all([s3.close(), dynamodb.close(), ses.close()]);
    },
  };
}
