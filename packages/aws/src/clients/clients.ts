import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { KMSClient } from "@aws-sdk/client-kms";
import { S3Client } from "@aws-sdk/client-s3";
import { SFNClient } from "@aws-sdk/client-sfn";
import { DynamoDBDocumentClient } from "@aws-sdk/lib-dynamodb";
import { conflict, patientRetries } from "./retries.ts";
import { takeOffers } from "./transport.ts";

/** A connection that hangs counts as an outage, and is retried, well before a Lambda's own deadline. */
const requestHandler = {
  connectionTimeout: 3_000,
  requestTimeout: 10_000,
  throwOnRequestTimeout: true,
  httpAgent: { keepAlive: true, maxSockets: 256 },
  httpsAgent: { keepAlive: true, maxSockets: 256 },
};

/** A large body takes longer than any fixed time; here only silence on the line is an outage. */
const streamingHandler = { ...requestHandler, requestTimeout: 0, socketTimeout: 30_000 };

/** The SDK warns on stderr that it cannot repeat a stream; `patiently` can. */
const silent = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

export function documentClient(): DynamoDBDocumentClient {
  const client = new DynamoDBClient({ retryStrategy: patientRetries(), requestHandler });
  takeOffers(client);
  return DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
}

/** Steps of every call that only describe this program to AWS, or write logs that nobody asked for. */
const dispensable = ["getUserAgentMiddleware", "recursionDetectionMiddleware", "loggerMiddleware"];

/**
 * For the chain, which every node waits for several times: what is around a call is put together once
 * (`cacheMiddleware`, which a document client cannot have). Shares the other client's connections and credentials.
 */
export function chainClient({ config: { requestHandler, credentials } }: DynamoDBDocumentClient): DynamoDBClient {
  const shared = { requestHandler, credentials };
  const client = new DynamoDBClient({ ...shared, retryStrategy: patientRetries(), cacheMiddleware: true });
  for (const name of dispensable) client.middlewareStack.remove(name);
  takeOffers(client);
  return client;
}

/** `pathStyle`: for endpoints without a host name per bucket. */
export function s3Client(pathStyle: boolean): S3Client {
  return new S3Client({
    forcePathStyle: pathStyle,
    retryStrategy: patientRetries([conflict]),
    requestHandler: streamingHandler,
    // Blobs are hashed by us on their way in and out, against the hash that is their name.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    logger: silent,
  });
}

export function sfnClient(): SFNClient {
  // Two deployments of one workflow at the same moment, and the one-a-second bucket of Create and Update.
  const client = new SFNClient({ retryStrategy: patientRetries(["ConflictException"]), requestHandler });
  takeOffers(client);
  return client;
}

export function kmsClient(): KMSClient {
  return new KMSClient({ retryStrategy: patientRetries(), requestHandler });
}
