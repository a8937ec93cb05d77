import { CreateBucketCommand, S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { openS3, type S3Options, type S3Request } from "../../../../packages/aws-local/src/s3/server.ts";
import type { Listening } from "../../../../packages/serve-local/src/http-server.ts";
import { signedFetch } from "../../support/signed.ts";

export const Bucket = "bucket";
export const key = { accessKeyId: "mine", secretAccessKey: "secret" };

export interface TestS3 {
  server: Listening;
  client: S3Client;
  requests: S3Request[];
  faults: S3Options["faults"];
}

/**
 * Opens S3 with an empty bucket for the tests of one file. The SDK's client has its default settings, except that it
 * prints no warnings.
 */
export function useS3(): TestS3 {
  const s3 = { requests: [], faults: undefined } as unknown as TestS3;
  beforeAll(async () => {
    s3.server = await openS3({
      dataDir: null,
      ...key,
      faults(request) {
        s3.requests.push(request);
        return s3.faults?.(request);
      },
    });
    s3.client = clientOf(s3.server);
    await s3.client.send(new CreateBucketCommand({ Bucket }));
  });
  beforeEach(() => {
    s3.requests.length = 0;
    s3.faults = undefined;
  });
  afterAll(async () => {
    s3.client.destroy();
    await s3.server.close();
  });
  return s3;
}

export function clientOf({ url }: Pick<Listening, "url">, config: S3ClientConfig = {}): S3Client {
  return new S3Client({
    endpoint: url,
    region: "us-east-1",
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: key,
    logger,
    ...config,
  });
}

/** Discards the SDK's warnings about streams that it cannot send a second time. */
const logger = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** Sends a signed request without an SDK, so that a test can send what no SDK would send. */
export function raw({ url }: Listening, path: string, init: RequestInit = {}): Promise<Response> {
  return signedFetch("s3", key, `${url}${path}`, init);
}
