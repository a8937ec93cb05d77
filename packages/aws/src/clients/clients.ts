import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { KMSClient } from "@aws-sdk/client-kms";
import { S3Client } from "@aws-sdk/client-s3";
import { SFNClient } from "@aws-sdk/client-sfn";
import { conflict, patientRetries } from "./outage.ts";
import { useOwnServices } from "./own-services.ts";

/**
 * Timeouts that abort a request whose connection hangs, so that the SDK retries the request well before the deadline of
 * a Lambda.
 */
const requestHandler = {
  connectionTimeout: 3_000,
  requestTimeout: 10_000,
  throwOnRequestTimeout: true,
  httpAgent: { keepAlive: true, maxSockets: 256 },
  httpsAgent: { keepAlive: true, maxSockets: 256 },
};

/**
 * Timeouts for large bodies, which may take any amount of time. Only a connection without data for 30 seconds is
 * aborted.
 */
const streamingHandler = { ...requestHandler, requestTimeout: 0, socketTimeout: 30_000 };

/**
 * A logger that writes nothing. The SDK would warn that it cannot repeat a stream, but `retryStream` repeats streams.
 */
const silent = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** SDK middleware that only describes this program to AWS or writes logs. */
const dispensable = ["getUserAgentMiddleware", "recursionDetectionMiddleware", "loggerMiddleware"];

/** Creates a DynamoDB client that composes its middleware once per command, because every node sends many commands. */
export function dynamoDbClient(): DynamoDBClient {
  const client = new DynamoDBClient({ retryStrategy: patientRetries(), requestHandler, cacheMiddleware: true });
  for (const name of dispensable) client.middlewareStack.remove(name);
  useOwnServices(client);
  return client;
}

/** Creates an S3 client. `pathStyle` is true for endpoints without a host name per bucket. */
export function s3Client(pathStyle: boolean): S3Client {
  const client = new S3Client({
    forcePathStyle: pathStyle,
    retryStrategy: patientRetries([conflict]),
    requestHandler: streamingHandler,
    // The SDK computes no checksums of its own, because the blob store compares the hash of each blob with its name.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    logger: silent,
  });
  useOwnServices(client);
  return client;
}

export function sfnClient(): SFNClient {
  // Also retries conflicts of two concurrent deployments of a workflow. AWS allows one create or update per second.
  const client = new SFNClient({
    retryStrategy: patientRetries(["ConflictException"]),
    requestHandler,
    cacheMiddleware: true,
  });
  useOwnServices(client);
  return client;
}

export function kmsClient(): KMSClient {
  return new KMSClient({ retryStrategy: patientRetries(), requestHandler });
}
